internal import PeriluneIsolation
internal import PeriluneLua

/// The resources that a run has used, excluding nested runs that it waited for.
public struct RunFigures: Codable, Sendable, Equatable {
    /// The peak memory of the Lua state during the run, in bytes. Most of this memory may already have been in use when the run started.
    public internal(set) var peakMemoryInBytes = 0
    /// The number of executed SQL statements.
    public internal(set) var statementCount = 0
    /// The number of rows returned by the statements.
    public internal(set) var readRowCount = 0
    /// The number of rows that were inserted, updated and deleted, including by triggers.
    public internal(set) var changedRowCount = 0
    /// The number of bytes that SQLite has written to files: databases, journals, and temporary files for sorting.
    public internal(set) var writtenByteCount = 0
    /// The number of executed Lua instructions, counted in steps of 1,000; `nil` unless the run has an instruction limit.
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

/// Conversion to and from the wire format between processes.
extension RunFigures {
    var value: WireValue {
        .list([
            .integer(Int64(peakMemoryInBytes)), .integer(Int64(statementCount)), .integer(Int64(readRowCount)),
            .integer(Int64(changedRowCount)),
            .integer(Int64(writtenByteCount)), instructionCount.map { .integer(Int64($0)) } ?? .nil,
        ])
    }

    /// - Parameter value: Untrusted data: missing or negative counts become 0.
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
