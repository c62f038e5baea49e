internal import CPeriluneShim

/// Copies of values for Swift. A table or string that Lua has once is copied for each place in which a value has it: without a bound a
/// script of one line would return more than any machine holds.
extension LuaCore {
    /// What may be copied in any case, in bytes.
    private static let leastAllowance = 16 << 20
    /// What an element takes beside its text, in bytes: as much as in Lua, at least.
    private static let elementSize = 16

    /// Runs what copies a value with all that is in it. What has no table or string more than four times always fits.
    func copying<Result>(_ body: () throws(LuaError) -> Result) throws(LuaError) -> Result {
        guard copyAllowance == nil else { return try body() }
        // A handle of a state that is closed says so where it is read.
        copyAllowance = Self.leastAllowance + (isOpen ? 4 * context.pointee.used : 0)
        defer { copyAllowance = nil }
        return try body()
    }

    /// Counts an element that is copied, with as many bytes of text.
    ///
    /// - Throws: ``LuaError`` with code `conversion` if that is too much.
    func chargeCopy(textInBytes text: Int) throws(LuaError) {
        guard let allowance = copyAllowance else { return }
        guard text + Self.elementSize <= allowance else {
            throw LuaError(.conversion, "the value is too large to be copied: tables or strings are in it many times")
        }
        copyAllowance = allowance - text - Self.elementSize
    }
}

extension LuaValue {
    /// Runs what copies the value with all that is in it.
    ///
    /// - Throws: What the closure throws. Reading tables there throws ``LuaError`` with code `conversion` once too much was copied.
    package func copying<Result>(_ body: () throws(LuaError) -> Result) throws(LuaError) -> Result {
        guard case .table(let table) = self else { return try body() }
        return try table.reference.core.copying(body)
    }
}
