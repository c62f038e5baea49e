import Foundation
import Perilune
import PeriluneDependencies
import PeriluneLua
import PeriluneTestTools
import Synchronization
import Testing

@Suite struct JobQueueTests {
    fileprivate struct Mail: Codable, Sendable { let to: String }

    @Test(arguments: ScriptPlace.allCases)
    func `jobs that Swift enqueues are handled by a script`(_ place: ScriptPlace) async throws {
        let host = try await place.host()
        let mails = host.jobs("mail")
        let first = try await mails.enqueue(Mail(to: "ada"), key: "a")
        #expect(try await mails.enqueue(Mail(to: "bob"), key: "a") == first)
        try await mails.enqueue(Mail(to: "eve"), orderBy: "x", delay: .seconds(60), priority: 3)
        #expect(try await mails.counts().ready == 1)
        let seen: String = try await host.run(
            source: """
                local seen = {}
                local handler = perilune.jobs("mail"):handle(function(job) seen[#seen + 1] = job.to end)
                perilune.sleep("2m")
                handler:cancel()
                return table.concat(seen, " ")
                """)
        #expect(seen == "ada eve")
        #expect(try await mails.counts().done == 2)
        #expect(try await mails.retry(first) == false)
        #expect(try await mails.cancel(99) == false)
    }

    @Test(arguments: ScriptPlace.allCases)
    func `a job with a key in use is ignored, replaces the earlier one, or raises an error`(_ place: ScriptPlace) async throws {
        let host = try await place.host()
        let mails = host.jobs("mail")
        let first = try await mails.enqueue("one", key: "a")
        #expect(try await mails.enqueue("two", key: "a", onKey: .ignore) == first)
        #expect(try await mails.enqueue("three", key: "a", onKey: .replace) == first)
        let error = await #expect(throws: LuaError.self) {
            try await mails.enqueue("four", key: "a", onKey: .raise)
        }
        #expect(error?.kind == "job_exists")
        let seen: [String] = try await host.run(
            source: """
                local seen = {}
                local handler = perilune.jobs("mail"):handle(function(job) seen[#seen + 1] = job.payload end)
                perilune.sleep("1m")
                handler:cancel()
                return seen
                """)
        #expect(seen == ["three"])
    }

    @Test(arguments: ScriptPlace.allCases)
    func `invalid options of an enqueued job are reported`(_ place: ScriptPlace) async throws {
        let host = try await place.host()
        let error = await #expect(throws: LuaError.self) {
            try await host.jobs("mail").enqueue(1, key: "")
        }
        #expect(error?.kind == "argument")
    }

    // MARK: - Handlers in Swift

    @Test func `a Swift handler runs jobs, and their outcomes are reported`() async throws {
        // A test's clock is frozen, so the pause before a second attempt would never end.
        try await DependencyContainer.with {
            $0.date = .system
        } operation: {
            let host = try await ScriptHost(database: .inMemory())
            let mails = host.jobs("mail")
            let sent = Mutex<[String]>([])
            let handler = try await mails.handle(Mail.self, attempts: 2, backoff: .milliseconds(1)...(.milliseconds(1))) {
                job in
                if job.payload.to == "eve", job.isRepeat == false { throw Refusal() }
                if job.payload.to == "mallory" { throw Refusal() }
                sent.withLock { $0.append("\(job.key ?? "-") \(job.payload.to) \(job.attempt)") }
            }
            let first = try await mails.enqueue(Mail(to: "ada"), key: "a")
            let second = try await mails.enqueue(Mail(to: "eve"))
            let third = try await mails.enqueue(Mail(to: "mallory"))
            var outcomes: [JobOutcome] = []
            for await outcome in handler.outcomes {
                outcomes.append(outcome)
                if outcomes.count == 5 { break }
            }
            #expect(outcomes.filter { $0.id == first }.map(\.state) == [.done])
            #expect(outcomes.first { $0.id == first }?.key == "a")
            #expect(outcomes.filter { $0.id == second }.map(\.state) == [.failed, .done])
            #expect(outcomes.filter { $0.id == third }.map(\.state) == [.failed, .dead])
            #expect(outcomes.last { $0.id == third }?.error?.contains("Refusal") == true)
            #expect(outcomes.first { $0.id == third }?.nextAttempt != nil)
            #expect(sent.withLock { $0.sorted() } == ["- eve 2", "a ada 1"])
            try await handler.stop()
            #expect(try await mails.counts().dead == 1)
        }
    }

    @Test func `a job whose payload has a different type is dead, with the reason`() async throws {
        let host = try await ScriptHost(database: .inMemory())
        let handler = try await host.jobs("mail").handle(Mail.self, attempts: 1) { _ in }
        try await host.jobs("mail").enqueue(["from": "ada"])
        let outcome = await handler.outcomes.first { _ in true }
        #expect(outcome?.state == .dead)
        #expect(outcome?.error?.contains("to") == true, "\(outcome?.error ?? "")")
        try await handler.stop()
    }

    @Test func `the sequence of outcomes ends when the handler stops, and later jobs stay queued`() async throws {
        let host = try await ScriptHost(database: .inMemory())
        let mails = host.jobs("mail")
        let handler = try await mails.handle(Mail.self) { _ in }
        try await mails.enqueue(Mail(to: "ada"))
        try await handler.waitUntilIdle()
        try await handler.stop()
        try await mails.enqueue(Mail(to: "bob"))
        var count = 0
        for await _ in handler.outcomes { count += 1 }
        #expect(count == 1)
        #expect(try await mails.counts().ready == 1)
    }

    @Test(.patience) func `waiting for a handler lets its jobs use the host`() async throws {
        let host = try await ScriptHost(database: .inMemory())
        try await host.run(source: "count = 0 function add() count = count + 1 return count end")
        let (waiting, reached) = (Rendezvous(), Tally())
        let handler = try await host.jobs("mail").handle(Mail.self, concurrency: 2) { mail in
            reached.add()
            if mail.payload.to == "ada" { await waiting.meet() }
            let _: Int = try await host.call("add")
        }
        try await host.jobs("mail").enqueue(Mail(to: "ada"))
        await reached.wait()
        let wait = Task { try await handler.waitUntilIdle() }
        try await host.jobs("mail").enqueue(Mail(to: "bob"))
        await reached.wait(for: 2)
        #expect(try await host.jobs("mail").counts().running > 0)
        await waiting.meet()
        try await wait.value
        #expect(try await host.run(source: "return count") == 2)

        // After the end of the handler, the wait is for active jobs only.
        try await host.jobs("mail").enqueue(Mail(to: "ada"))
        await reached.wait(for: 3)
        try await handler.stop()
        try await host.jobs("mail").enqueue(Mail(to: "bob"))
        let stopped = Task { try await handler.waitUntilIdle() }
        await waiting.meet()
        try await stopped.value
        #expect(try await host.jobs("mail").counts().ready == 1)
        #expect(try await host.run(source: "return count") == 3)
    }

    @Test(.patience) func `a thousand finished jobs are deleted each second, not each minute`() async throws {
        try await DependencyContainer.inProcess(.live) {
            try await DependencyContainer.prepare { $0.defaultDatabase = .inMemory() }
            let left: Int = try await ScriptHost().run(
                source: """
                    local jobs = perilune.jobs("q")
                    db:write(function() for i = 1, 2500 do jobs:enqueue(i) end end)
                    db:execute("UPDATE perilune_job SET state = 'done', ended_at = '2000-01-01 00:00:00.000'")
                    local handler = jobs:handle(function() end)
                    for _ = 1, 2000 do
                      if jobs:counts().done == 0 then break end
                      perilune.sleep(0.05)
                    end
                    handler:cancel()
                    return jobs:counts().done
                    """)
            #expect(left == 0)
        }
    }

    @Test func `a wait for a handler ends with the host`() async throws {
        let host = try await ScriptHost(database: .inMemory()), reached = Tally()
        let handler = try await host.jobs("mail").handle(Mail.self) { _ in
            reached.add()
            try await suspendUntilCancelled()
        }
        try await host.jobs("mail").enqueue(Mail(to: "ada"))
        await reached.wait()
        let cancelled = Task { try await handler.waitUntilIdle() }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        let wait = Task { try await handler.waitUntilIdle() }
        await host.close()
        await #expect(throws: LuaError.self) { try await wait.value }
    }

    @Test(.patience) func `the example of a job handler sends a job's mail`() async throws {
        let host = try await ScriptHost(database: .inMemory()), mailer = RecordingMailer()
        @Sendable func report(_ outcome: JobOutcome) { Issue.record("\(outcome)") }
        let handling = Task {
            // example
            let handler = try await host.jobs("mail").handle(Mail.self) { job in
                try await mailer.send(job.payload, idempotencyKey: job.key)
            }
            for await outcome in handler.outcomes where outcome.state == .dead { report(outcome) }
            // end
        }
        try await host.jobs("mail").enqueue(Mail(to: "ada"), key: "a")
        #expect(await eventually { mailer.sent.withLock { $0 } == ["ada a"] })
        handling.cancel()
        _ = await handling.result
        await host.close()
    }

    @Test func `a Swift handler of an isolated host is refused, with advice`() async throws {
        let host = try await ScriptPlace.isolated.host()
        let error = await #expect(throws: LuaError.self) { _ = try await host.jobs("mail").handle(Mail.self) { _ in } }
        #expect(error?.message.contains("let a script handle the jobs") == true)
    }

    @Test func `an invalid option of a Swift handler is reported`() async throws {
        let host = try await ScriptHost(database: .inMemory())
        let error = await #expect(throws: LuaError.self) {
            _ = try await host.jobs("mail").handle(Mail.self, attempts: 0) { _ in }
        }
        #expect(error?.message.contains("option `attempts`") == true, "\(error?.message ?? "")")
    }
}

private struct Refusal: LocalizedError {
    var errorDescription: String? { "Refusal" }
}

/// Keeps the mail that a handler sends.
private final class RecordingMailer: Sendable {
    let sent = Mutex<[String]>([])

    func send(_ mail: JobQueueTests.Mail, idempotencyKey: String?) async throws {
        sent.withLock { $0.append("\(mail.to) \(idempotencyKey ?? "-")") }
    }
}
