/// The Lua modules of one folder of `lib`, which the build embeds in the binary.
package struct EmbeddedModules: Sendable {
    /// The Lua release that compiled the bytecode, as the text of `lua_ident`.
    package let luaIdent: StaticString
    /// The modules, sorted by the bytes of their names.
    private let modules: [EmbeddedModule]

    package init(luaIdent: StaticString, _ modules: [EmbeddedModule]) {
        (self.luaIdent, self.modules) = (luaIdent, modules)
    }

    /// Returns the module with the given name, or `nil`.
    package func module(_ name: String) -> EmbeddedModule? {
        var (low, high) = (0, modules.count)
        while low < high {
            let middle = (low + high) / 2
            let order = modules[middle].name.withUTF8Buffer { $0.lexicographicallyPrecedes(name.utf8) }
            if order { low = middle + 1 } else { high = middle }
        }
        guard low < modules.count, modules[low].name.withUTF8Buffer({ $0.elementsEqual(name.utf8) }) else { return nil }
        return modules[low]
    }
}
