internal import CPeriluneShim

/// A meter of the resources used by the runs that tasks with this meter begin in one state.
///
/// `@unchecked Sendable`: used only on the thread of the state.
package final class LuaMeter: @unchecked Sendable {
    /// The meter for the runs that the current task begins.
    @TaskLocal package static var current: LuaMeter?

    private let core: LuaCore
    /// The maximum memory that the state used while the runs used its thread, in bytes.
    package private(set) var peakMemoryInBytes = 0
    /// The executed SQL statements, without Perilune's own.
    package private(set) var statementCount = 0
    /// The rows that statements have read.
    package private(set) var readRowCount = 0
    /// The number of inserted, updated and deleted rows, including changes by triggers.
    package private(set) var changedRowCount = 0
    /// The bytes that SQLite has written to files.
    package private(set) var writtenByteCount = 0
    /// The executed instructions; `nil` if the limits do not count them.
    package private(set) var instructionCount: Int?

    package init(of state: LuaState) {
        core = state.core
    }

    /// Returns the current task's meter if it belongs to the state.
    static func current(of core: LuaCore) -> LuaMeter? {
        guard let current, current.core === core else { return nil }
        return current
    }

    /// Begins or continues counting.
    func begin() {
        core.context.pointee.usage = plua_usage(
            is_on: true, peak: core.context.pointee.used, statements: 0, rows: 0, changes: 0, bytes_written: 0)
    }

    /// Interrupts or ends counting.
    ///
    /// - Parameter spent: The instructions since ``begin()``, if they are counted.
    func end(spent: Int64?) {
        let meter = core.context.pointee.usage
        core.context.pointee.usage.is_on = false
        peakMemoryInBytes = max(peakMemoryInBytes, meter.peak)
        statementCount += Int(meter.statements)
        readRowCount += Int(meter.rows)
        changedRowCount += Int(meter.changes)
        writtenByteCount += Int(meter.bytes_written)
        if let spent { instructionCount = (instructionCount ?? 0) + Int(max(spent, 0)) }
    }
}
