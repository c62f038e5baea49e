internal import GRDB
public import PeriluneLua

extension ScriptHost {
    /// What a host gives its scripts.
    public struct Configuration: Sendable {
        /// Where the default database, `db`, is.
        public enum Database: Sendable, Equatable {
            /// A private database in memory, empty at first.
            case inMemory
            /// A file, which is made if it does not exist.
            case file(String)
        }

        /// The default database.
        public var database: Database
        /// Whether the default database may only be read.
        public var isReadonly = false
        /// Which standard functions scripts have. What can do no harm, by default.
        public var libraries: LuaLibraries = .sandboxed
        /// What one run may use up.
        public var limits: LuaLimits = .none
        /// Whether scripts may open database files and use SQL that reaches files (`ATTACH`, `VACUUM INTO`).
        public var allowsFiles = false
        /// The folder in which `require` looks for modules; `nil`: nowhere.
        public var moduleFolder: String?
        /// Is told the SQL of each statement of the default database, bound values left out, on the thread that runs it.
        public var trace: (@Sendable (String) -> Void)?

        /// Makes a configuration for scripts that are not trusted.
        public init(database: Database = .inMemory) {
            self.database = database
        }
    }
}

extension ScriptHost.Configuration {
    /// Opens the default database.
    func openDatabase() throws -> any DatabaseWriter {
        var configuration = GRDB.Configuration()
        configuration.readonly = isReadonly
        if let trace {
            configuration.prepareDatabase { db in
                db.trace { event in
                    if case .statement(let statement) = event { trace(statement.sql) }
                }
            }
        }
        switch database {
        case .inMemory: return try DatabaseQueue(configuration: configuration)
        case .file(let path): return try DatabaseQueue(path: path, configuration: configuration)
        }
    }
}
