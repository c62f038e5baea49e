package import PeriluneLua

/// Loads the modules of the library: those in Lua, and those that Swift and C provide, `perilune.native.*`.
///
/// Modules meet by a `require` of their own (`lib/perilune/require.lua`): scripts reach no module of the library by theirs.
package final class LibraryLoader {
    /// What is given to modules that ask for something of Swift or C; made when it is first asked for.
    package typealias Provider = (LuaState) throws -> LuaTable

    private let modules: [LibraryModules]
    private let loaded: LuaTable
    private var providers: [String: Provider] = [:]
    /// The `require` of the library.
    private var requireFunction: LuaFunction?

    /// - Parameter modules: Lua modules beside those of every state.
    init(in state: LuaState, modules: [LibraryModules]) throws {
        self.modules = [.perilune] + modules
        loaded = try state.makeTable()
    }

    /// Makes `require`, and fills the table `perilune`, which is the module of that name. Lua's own functions become the globals
    /// of the library at that time.
    func open(in state: LuaState, perilune: LuaTable) throws {
        try provide("perilune", .table(perilune))
        guard let bootstrap = try function(of: "perilune.require", environment: nil, in: state) else {
            throw Self.missing("perilune.require")
        }
        // Owned by the state until that is closed: what it holds of the state in turn is released then.
        let compile = try state.makeFunction("require") { [self] arguments in
            try [.function(self.compile(arguments.get(1), environment: arguments.get(2), in: arguments.state))]
        }
        let made = try bootstrap.call([.function(compile), .table(loaded)])
        guard made.count == 2, case .function(let require) = made[0], case .table(let environment) = made[1] else {
            throw Self.missing("perilune.require")
        }
        requireFunction = require
        _ = try self.compile("perilune", environment: environment, in: state).call([.table(perilune)])
    }

    /// Sets what `require` returns for a name.
    package func provide(_ name: String, _ value: LuaValue) throws {
        try loaded.rawSet(.string(LuaString(name)), value)
    }

    /// Provides `perilune.native.NAME`, made when it is first asked for.
    package func provide(native name: String, _ provider: @escaping Provider) {
        providers["perilune.native." + name] = provider
    }

    /// What a module returns. It is run once.
    package func require(_ name: String) throws -> LuaValue {
        guard let requireFunction else { throw Self.missing(name) }
        return try requireFunction.call([.string(LuaString(name))]).first ?? .nil
    }

    /// What makes a module: a function that returns what it is.
    private func compile(_ name: String, environment: LuaTable, in state: LuaState) throws -> LuaFunction {
        if let provider = providers[name] {
            return try state.makeFunction(name) { arguments in [.table(try provider(arguments.state))] }
        }
        guard let function = try function(of: name, environment: environment, in: state) else { throw Self.missing(name) }
        return function
    }

    private func function(of name: String, environment: LuaTable?, in state: LuaState) throws -> LuaFunction? {
        try LibraryChunks.function(of: name, in: modules, environment: environment, state: state)
    }

    private static func missing(_ name: String) -> BindingError {
        BindingError("argument", "the library has no module `\(name)`")
    }
}
