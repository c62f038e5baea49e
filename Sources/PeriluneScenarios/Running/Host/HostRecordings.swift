internal import GRDB
internal import Perilune
internal import PeriluneBindings

/// A scenario's recordings of changes and statements, each from a beginning to an end.
struct HostRecordings {
    enum Recording {
        case changes(Result<RowChangeRecorder, any Error>)
        case statements(StatementTrace.Collection)
    }

    private var recordings: [Int: Recording] = [:]
    private var count = 0

    /// Returns its number.
    mutating func add(_ recording: Recording) -> Int {
        count += 1
        recordings[count] = recording
        return count
    }

    /// Removes and returns a recording.
    mutating func take(_ number: Int) throws -> Recording {
        guard let recording = recordings.removeValue(forKey: number) else { throw BindingError("usage", "unknown recording \(number)") }
        return recording
    }

    /// Ends the remaining recordings of a scenario that ended in the middle.
    mutating func endAll(on stage: ScenarioStage) {
        for case .changes(.success(let recorder)) in recordings.values { stage.end(recorder) }
        for case .statements(let collection) in recordings.values { stage.trace.end(collection) }
        recordings = [:]
    }
}

extension ScenarioStage {
    /// Begins to record row changes. Fails with the reason if that is not possible.
    func recordChanges() -> Result<RowChangeRecorder, any Error> {
        trace.pausing { Result { try writer.writeWithoutTransaction { db in try RowChangeRecorder(db) } } }
    }

    /// Ends that, and returns the changes; or why they are not known.
    func finish(_ recorder: Result<RowChangeRecorder, any Error>) -> Result<RecordedChanges, any Error> {
        defer { if case .success(let recorder) = recorder { end(recorder) } }
        return Result {
            let recorder = try recorder.get()
            return try trace.pausing {
                try writer.writeWithoutTransaction { db in try RecordedChanges(recorder.finish(db), db) }
            }
        }
    }

    /// Ends that for nothing.
    func end(_ recorder: RowChangeRecorder) {
        writer.unsafeReentrantWrite { _ in recorder.end() }
    }
}
