internal import CPeriluneSQLite
internal import Foundation
package import GRDB
package import PeriluneLua
internal import Synchronization

/// The extensions of SQLite that each connection which scripts use loads.
package struct SQLiteExtensions: Sendable {
    private let paths: [String]

    /// None.
    package static let none = SQLiteExtensions([])

    /// Takes the paths of shared libraries, which are not tried before a connection loads them.
    package init(_ paths: [String]) {
        // SQLite would look for a name without a folder where the system has its libraries.
        self.paths = paths.map { URL(filePath: $0).standardizedFileURL.path }
    }

    /// Takes the paths of shared libraries, and tries them once, on a connection of its own.
    ///
    /// - Throws: ``ExtensionError`` for the first that cannot be loaded.
    package init(checking paths: [String]) throws {
        self.init(paths)
        guard !paths.isEmpty else { return }
        try DatabaseQueue().inDatabase { db in try load(on: db) }
    }

    package var isEmpty: Bool { paths.isEmpty }

    /// Has each connection of a database to be opened load them, before anyone uses it.
    package func install(in configuration: inout Configuration) {
        guard !isEmpty else { return }
        configuration.prepareDatabase { [self] db in try load(on: db) }
    }

    /// Loads them for a connection, unless it has them. On its queue.
    func load(on db: Database) throws {
        for path in paths where !LoadedExtensions.contain(path, on: db) {
            try Self.load(path, on: db)
            LoadedExtensions.add(path, on: db)
        }
    }

    /// Held while one is loaded: extensions prepare what all their connections share, and none expects another thread there.
    private static let loading = Mutex(())

    private static func load(_ path: String, on db: Database) throws {
        // SQLite adds the suffix of libraries to a name that it does not find, and reports that name.
        guard [path, path + ".so", path + ".dylib"].contains(where: { FileManager.default.fileExists(atPath: $0) }) else {
            throw ExtensionError(path: path, reason: "file not found")
        }
        var message: UnsafeMutablePointer<CChar>?
        let code = loading.withLock { _ in psql_load_extension(db.sqliteConnection, path, &message) }
        defer { sqlite3_free(message) }
        guard code == SQLITE_OK else {
            throw ExtensionError(path: path, reason: message.map { String(cString: $0) } ?? "SQLite's code \(code)")
        }
    }
}

/// What the connections of this process have loaded: several states may use one.
private enum LoadedExtensions {
    /// `@unchecked Sendable`: the connection is only compared.
    private struct Entry: @unchecked Sendable {
        weak var connection: Database?
        var paths: Set<String> = []
    }

    private static let entries = Mutex<[ObjectIdentifier: Entry]>([:])

    static func contain(_ path: String, on db: Database) -> Bool {
        let key = ObjectIdentifier(db)
        return entries.withLock { $0[key].map { $0.connection != nil && $0.paths.contains(path) } ?? false }
    }

    static func add(_ path: String, on db: Database) {
        let key = ObjectIdentifier(db)
        nonisolated(unsafe) let connection = db
        entries.withLock { entries in
            entries = entries.filter { $0.value.connection != nil }
            var entry = entries[key] ?? Entry(connection: connection)
            entry.paths.insert(path)
            entries[key] = entry
        }
    }
}

/// An extension that could not be loaded.
package struct ExtensionError: LuaErrorDescribing, CustomStringConvertible {
    package let path: String
    package let reason: String

    package var luaKind: String { "cannot_load" }
    package var luaMessage: String { "cannot load the extension \(path): \(reason)" }
    package var luaFields: [String: LuaScalar] { ["path": .string(LuaString(path))] }
    package var description: String { luaMessage }
}
