internal import CPeriluneShim

/// A meter that measures the resources used by runs in one state. It includes the runs begun by tasks whose ``current`` is this
/// meter.
///
/// `@unchecked Sendable`: used only on the thread of the state.
package final class LuaMeter: @unchecked Sendable {
    /// The meter that measures runs begun by the current task.
    @TaskLocal package static var current: LuaMeter?

    private let core: LuaCore
    /// The peak memory of the state while measured runs were executing, in bytes.
    package private(set) var peakMemoryInBytes = 0
    /// The number of executed SQL statements, excluding Perilune's internal ones.
    package private(set) var statementCount = 0
    /// The number of rows read by statements.
    package private(set) var readRowCount = 0
    /// The number of inserted, updated and deleted rows, including changes by triggers.
    package private(set) var changedRowCount = 0
    /// The number of bytes that SQLite wrote to files.
    package private(set) var writtenByteCount = 0
    /// The number of executed instructions; `nil` if the runs have no instruction limit.
    package private(set) var instructionCount: Int?

    package init(of state: LuaState) {
        core = state.core
    }

    /// Returns the current task's meter if it belongs to the state.
    static func current(of core: LuaCore) -> LuaMeter? {
        guard let current, current.core === core else { return nil }
        return current
    }

    /// Starts or resumes measuring.
    func begin() {
        core.context.pointee.usage = plua_usage(
            is_on: true, peak: core.context.pointee.used, statements: 0, rows: 0, changes: 0, bytes_written: 0)
    }

    /// Pauses or ends measuring.
    ///
    /// - Parameter spent: The number of instructions executed since ``begin()``; `nil` if the run has no instruction limit.
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
