package import PeriluneLua

/// The loader of library modules: Lua modules, and `perilune.native.*` modules that Swift and C code provides.
///
/// Library modules use a separate `require` function (`lib/perilune/require.lua`). The `require` of scripts cannot load library
/// modules.
package final class LibraryLoader {
    /// A function that creates a native module, called when the module is first required.
    package typealias Provider = (LuaState) throws -> LuaTable

    private let modules: [LibraryModules]
    private let loaded: LuaTable
    private var providers: [String: Provider] = [:]
    private var requireFunction: LuaFunction?

    /// - Parameter modules: Additional Lua modules besides the standard modules.
    init(in state: LuaState, modules: [LibraryModules]) throws {
        self.modules = [.perilune] + modules
        loaded = try state.makeTable()
    }

    /// Creates the library's `require` and fills the table `perilune`, which is the module of that name. The state's current global
    /// functions become the globals of the library.
    func open(in state: LuaState, perilune: LuaTable) throws {
        try provide("perilune", .table(perilune))
        guard let bootstrap = try function(of: "perilune.require", environment: nil, in: state) else {
            throw Self.missing("perilune.require")
        }
        // The state owns this function. Closing the state releases it and breaks the reference cycle.
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

    /// Sets the value that the library's `require` returns for a name.
    package func provide(_ name: String, _ value: LuaValue) throws {
        try loaded.rawSet(.string(LuaString(name)), value)
    }

    /// Registers a provider for the module `perilune.native.NAME`.
    package func provide(native name: String, _ provider: @escaping Provider) {
        providers["perilune.native." + name] = provider
    }

    /// Loads a module unless it is already loaded, and returns its value.
    package func require(_ name: String) throws -> LuaValue {
        guard let requireFunction else { throw Self.missing(name) }
        return try requireFunction.call([.string(LuaString(name))]).first ?? .nil
    }

    /// Returns the function that creates the module's value.
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
