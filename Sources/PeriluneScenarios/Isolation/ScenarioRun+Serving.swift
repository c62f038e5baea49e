internal import Foundation
package import PeriluneIsolation
internal import PeriluneRecords

/// Running scenarios in a worker process, which reports the results to its parent process.
extension ScenarioRun {
    /// Runs the scenarios that another process requests, until that process ends. Both processes select scenarios with the same options.
    ///
    /// - Throws: ``ScenarioUsageError``.
    package func serve(on channel: FrameChannel, answers: FrameChannel) async throws {
        let entries = Dictionary(try await selectScenarios().entries.map { ($0.scenario.id, $0) }) { first, _ in first }
        let databases = ScenarioDatabases(store: store, chunks: chunks, options: options, coverage: coverage)
        let worker = ScenarioWorker()
        let snapshots = SnapshotQuestions(channel: channel, answers: answers)
        for await id in Self.requests(on: channel) {
            guard let entry = entries[id] else { continue }
            let job = ScenarioQueue.Job(number: 0, entry: entry, round: 1)
            let token = RunningScenarios.Token(job, seed: options.seed) { time in
                try? channel.send(.began, [.number(time / .seconds(1))])
            }
            let tools = ScenarioTools(
                databases: databases, chunks: chunks, options: options, snapshots: snapshots, coverage: coverage)
            let result = await worker.perform(job, token, with: tools)
            if let coverage { try? channel.send(.covered, coverage.take().map { Self.value(ofFile: $0.key, $0.value) }) }
            try send(result, on: channel)
        }
    }

    /// Returns the identifiers that the other process sends. When that process ends, this one exits, even in the middle of a
    /// scenario.
    private static func requests(on channel: FrameChannel) -> AsyncStream<String> {
        AsyncStream { continuation in
            Thread.detachNewThread {
                while let frame = try? channel.receive(), let id = frame.values.first?.text { continuation.yield(id) }
                exit(0)
            }
        }
    }

    private static func value(ofFile file: String, _ counts: [Int: Int]) -> WireValue {
        .list([.text(file)] + counts.flatMap { [.integer(Int64($0.key)), .integer(Int64($0.value))] })
    }

    private func send(_ result: ScenarioResult, on channel: FrameChannel) throws {
        func values(_ result: ScenarioResult) throws -> [WireValue] { [.string(Array(try JSONEncoder().encode(result)))] }
        do throws(FrameChannel.SendingError) {
            try channel.send(.ended, (try? values(result)) ?? [])
        } catch {
            guard case .refused = error else { return }
            // The result is too large for a frame, so its longest details are left out.
            var short = result
            (short.statements, short.changes, short.attachments, short.output) = ([], [], [], "")
            short.earlierAttempts = []
            short.notes.append("details of the result are left out, as there are too many")
            try channel.send(.ended, values(short))
        }
    }
}

/// The snapshot registry of a worker process, which asks the parent process, because scenarios in other processes use snapshots, too.
private struct SnapshotQuestions: SnapshotRegistry {
    let channel: FrameChannel
    /// The connection for answers from the parent process.
    let answers: FrameChannel

    /// Asks the parent process and blocks the thread until the answer arrives. A worker process runs only one scenario at a time.
    func use(_ path: String, of scenario: String, as text: [UInt8]) -> String? {
        // Sends a hash, because the text may be too large for a frame.
        guard (try? channel.send(.compares, [.text(path), .text(SHA256.hash(text))])) != nil else { return nil }
        return (try? answers.receive())?.values.first?.text
    }
}
