internal import CPeriluneShim

/// A limit on the size of values copied to Swift. A table that occurs several times in a value is copied once per occurrence, so a
/// one-line script could otherwise return a value larger than the machine's memory.
extension LuaCore {
    /// The number of bytes that can be copied even if the state uses hardly any memory.
    private static let leastAllowance = 16 << 20
    /// The cost of an element in bytes, without its text. At least the size of a value in Lua.
    private static let elementSize = 16

    /// Runs a closure that copies a value and its contents. A value always fits if each table and string occurs in it at most four
    /// times.
    func copying<Result>(_ body: () throws(LuaError) -> Result) throws(LuaError) -> Result {
        guard copyAllowance == nil else { return try body() }
        // Reading a handle of a closed state throws a separate error.
        copyAllowance = Self.leastAllowance + (isOpen ? 4 * context.pointee.used : 0)
        defer { copyAllowance = nil }
        return try body()
    }

    /// Subtracts a copied element and the bytes of its text from the allowance.
    ///
    /// - Throws: ``LuaError`` with code `conversion` if the allowance is used up.
    func chargeCopy(textInBytes text: Int) throws(LuaError) {
        guard let allowance = copyAllowance else { return }
        guard text + Self.elementSize <= allowance else {
            throw LuaError(.conversion, "the value is too large to be copied: tables or strings are in it many times")
        }
        copyAllowance = allowance - text - Self.elementSize
    }
}

extension LuaValue {
    /// Runs a closure that copies the value and its contents.
    ///
    /// - Throws: Errors of the closure. Reading a table throws ``LuaError`` with code `conversion` if the copy becomes too large.
    package func copying<Result>(_ body: () throws(LuaError) -> Result) throws(LuaError) -> Result {
        guard case .table(let table) = self else { return try body() }
        return try table.reference.core.copying(body)
    }
}
