internal import CPeriluneShim

/// A bound on copying values to Swift. A table or string that a value contains several times is copied each time, so without a
/// bound a one-line script could return more than the machine's memory.
extension LuaCore {
    /// The number of bytes that may always be copied.
    private static let leastAllowance = 16 << 20
    /// The size of an element without its text in bytes, at least as large as in Lua.
    private static let elementSize = 16

    /// Runs a closure that copies a value and its contents. Values that contain no table or string more than four times always
    /// fit.
    func copying<Result>(_ body: () throws(LuaError) -> Result) throws(LuaError) -> Result {
        guard copyAllowance == nil else { return try body() }
        // A handle of a closed state raises its own error when it is read.
        copyAllowance = Self.leastAllowance + (isOpen ? 4 * context.pointee.used : 0)
        defer { copyAllowance = nil }
        return try body()
    }

    /// Counts a copied element and the bytes of its text.
    ///
    /// - Throws: ``LuaError`` with code `conversion` if the bound is exceeded.
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
    /// - Throws: Errors of the closure. Reading tables in it throws ``LuaError`` with code `conversion` once the bound is
    ///   exceeded.
    package func copying<Result>(_ body: () throws(LuaError) -> Result) throws(LuaError) -> Result {
        guard case .table(let table) = self else { return try body() }
        return try table.reference.core.copying(body)
    }
}
