internal import Foundation
package import PeriluneIsolation

/// Runs of which another process reports the results.
extension ScenarioRun {
    /// Runs the scenarios that another process names, which has selected them by the same options, until that one has ended.
    ///
    /// - Throws: ``ScenarioUsageError``.
    package func serve(on channel: FrameChannel) async throws {
        let entries = Dictionary(try await selectScenarios().entries.map { ($0.scenario.id, $0) }) { first, _ in first }
        let databases = ScenarioDatabases(store: store, chunks: chunks, options: options)
        let worker = ScenarioWorker()
        for await id in Self.requests(on: channel) {
            guard let entry = entries[id] else { continue }
            let snapshots = SnapshotUses()
            let job = ScenarioQueue.Job(number: 0, entry: entry, round: 1)
            let token = RunningScenarios.Token(job, seed: options.seed) { time in
                try? channel.send(Frame(kind: ScenarioMessage.began.rawValue, request: 0, values: [.number(time / .seconds(1))]))
            }
            let tools = ScenarioTools(databases: databases, chunks: chunks, options: options, snapshots: snapshots)
            let result = await worker.perform(job, token, with: tools)
            try send(ScenarioAnswer(result: result, snapshots: snapshots.paths.sorted()), on: channel)
        }
    }

    /// The identifiers that the other process sends. This one ends with it, also in the middle of a scenario.
    private static func requests(on channel: FrameChannel) -> AsyncStream<String> {
        AsyncStream { continuation in
            Thread.detachNewThread {
                while let frame = try? channel.receive(), let id = frame.values.first?.text { continuation.yield(id) }
                exit(0)
            }
        }
    }

    private func send(_ answer: ScenarioAnswer, on channel: FrameChannel) throws {
        func frame(_ answer: ScenarioAnswer) throws -> Frame {
            Frame(kind: ScenarioMessage.ended.rawValue, request: 0, values: [.string(Array(try JSONEncoder().encode(answer)))])
        }
        do throws(FrameChannel.SendingError) {
            try channel.send((try? frame(answer)) ?? Frame(kind: ScenarioMessage.ended.rawValue, request: 0, values: []))
        } catch {
            guard case .refused = error else { return }
            // Far more details than a report shows.
            var short = answer
            (short.result.statements, short.result.changes, short.result.attachments, short.result.output) = ([], [], [], "")
            short.result.earlierAttempts = []
            short.result.notes.append("details of the result are left out, as there are too many")
            try channel.send(frame(short))
        }
    }
}
