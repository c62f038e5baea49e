internal import GRDB
internal import Perilune
internal import PeriluneBindings

/// The active recordings of row changes and statements in a scenario.
struct HostRecordings {
    enum Recording {
        case changes(Result<RowChangeRecorder, any Error>)
        case statements(StatementTrace.Collection)
    }

    private var recordings: [Int: Recording] = [:]
    private var count = 0

    /// Adds a recording and returns its number.
    mutating func add(_ recording: Recording) -> Int {
        count += 1
        recordings[count] = recording
        return count
    }

    /// Removes and returns a recording.
    mutating func take(_ number: Int) throws -> Recording {
        guard let recording = recordings.removeValue(forKey: number) else {
            throw BindingError("usage", "unknown recording \(number)")
        }
        return recording
    }

    /// Ends the recordings that a scenario has not ended.
    mutating func endAll(on stage: ScenarioStage) {
        for case .changes(.success(let recorder)) in recordings.values { stage.end(recorder) }
        for case .statements(let collection) in recordings.values { stage.trace.end(collection) }
        recordings = [:]
    }
}

extension ScenarioStage {
    /// Starts recording row changes. The result is a failure if recording is not possible.
    func recordChanges() -> Result<RowChangeRecorder, any Error> {
        trace.pausing { Result { try writer.writeWithoutTransaction { db in try RowChangeRecorder(db) } } }
    }

    /// Ends a recording, and returns the changes or the reason why they are unknown.
    func finish(_ recorder: Result<RowChangeRecorder, any Error>) -> Result<RecordedChanges, any Error> {
        defer { if case .success(let recorder) = recorder { end(recorder) } }
        return Result {
            let recorder = try recorder.get()
            return try trace.pausing {
                try writer.writeWithoutTransaction { db in try RecordedChanges(recorder.finish(db), db) }
            }
        }
    }

    /// Ends a recording and discards its changes.
    func end(_ recorder: RowChangeRecorder) {
        writer.unsafeReentrantWrite { _ in recorder.end() }
    }
}
