package import PeriluneLua

/// A loader of library modules: those in Lua, and those provided by Swift and C, `perilune.native.*`.
///
/// Modules use a separate `require` (`lib/perilune/require.lua`); scripts cannot load library modules with theirs.
package final class LibraryLoader {
    /// A function that creates a native module when it is first required.
    package typealias Provider = (LuaState) throws -> LuaTable

    private let modules: [LibraryModules]
    private let loaded: LuaTable
    private var providers: [String: Provider] = [:]
    /// The `require` function of the library.
    private var requireFunction: LuaFunction?

    /// - Parameter modules: Additional Lua modules besides those of every state.
    init(in state: LuaState, modules: [LibraryModules]) throws {
        self.modules = [.perilune] + modules
        loaded = try state.makeTable()
    }

    /// Creates `require` and fills the table `perilune`, which is the module of that name. The current Lua functions become the
    /// globals of the library.
    func open(in state: LuaState, perilune: LuaTable) throws {
        try provide("perilune", .table(perilune))
        guard let bootstrap = try function(of: "perilune.require", environment: nil, in: state) else {
            throw Self.missing("perilune.require")
        }
        // Owned by the state until it is closed, which releases the references back to the state.
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

    /// Sets the value that `require` returns for a name.
    package func provide(_ name: String, _ value: LuaValue) throws {
        try loaded.rawSet(.string(LuaString(name)), value)
    }

    /// Provides `perilune.native.NAME`, which is created when it is first required.
    package func provide(native name: String, _ provider: @escaping Provider) {
        providers["perilune.native." + name] = provider
    }

    /// Returns the value of a module. Each module runs once.
    package func require(_ name: String) throws -> LuaValue {
        guard let requireFunction else { throw Self.missing(name) }
        return try requireFunction.call([.string(LuaString(name))]).first ?? .nil
    }

    /// Returns the function that creates a module.
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
