internal import PeriluneIsolation
internal import PeriluneLua

/// The resources that a run has used, without the runs that it waited for.
public struct RunFigures: Sendable, Equatable {
    /// The most memory, in bytes, that the Lua state used during the run. The state may have held most of it before.
    public internal(set) var peakMemoryInBytes = 0
    /// How many SQL statements were executed.
    public internal(set) var statementCount = 0
    /// How many rows the statements have returned.
    public internal(set) var readRowCount = 0
    /// How many rows were inserted, updated and deleted, by triggers too.
    public internal(set) var changedRowCount = 0
    /// How many bytes SQLite has written to files: databases, their journals, and files in which it sorts.
    public internal(set) var writtenByteCount = 0
    /// How many instructions Lua has executed, to the thousand; `nil` without a limit on instructions.
    public internal(set) var instructionCount: Int?

    init() {}

    init(_ meter: LuaMeter) {
        peakMemoryInBytes = meter.peakMemoryInBytes
        statementCount = meter.statementCount
        readRowCount = meter.readRowCount
        changedRowCount = meter.changedRowCount
        writtenByteCount = meter.writtenByteCount
        instructionCount = meter.instructionCount
    }
}

/// Figures on their way to another process.
extension RunFigures {
    var value: WireValue {
        .list([
            .integer(Int64(peakMemoryInBytes)), .integer(Int64(statementCount)), .integer(Int64(readRowCount)),
            .integer(Int64(changedRowCount)),
            .integer(Int64(writtenByteCount)), instructionCount.map { .integer(Int64($0)) } ?? .nil,
        ])
    }

    /// - Parameter value: May come from an attacker: counts that are missing or negative are 0.
    init(_ value: WireValue) {
        let values = value.elements ?? []
        func number(_ index: Int) -> Int? {
            guard index < values.count, let number = values[index].integerValue else { return nil }
            return max(Int(clamping: number), 0)
        }
        peakMemoryInBytes = number(0) ?? 0
        statementCount = number(1) ?? 0
        readRowCount = number(2) ?? 0
        changedRowCount = number(3) ?? 0
        writtenByteCount = number(4) ?? 0
        instructionCount = number(5)
    }
}
