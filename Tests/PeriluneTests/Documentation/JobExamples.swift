// swift-format-ignore-file
// The documentation shows these examples word for word, in shorter lines.
import Foundation
import Perilune
import PeriluneTestSupport
import PeriluneTestTools
import Synchronization
import Testing

/// The examples on jobs in Swift, on the call that a function serves, and on effects that happen once.
@Suite struct JobExamples {
    // example
    struct Mail: Codable, Sendable {
        var to: String
        var text: String
    }
    // end

    // example
    struct DeadLetter: Codable, Sendable {
        var id: Int64
        var attempts: Int
        var error: String?
    }
    // end

    // example
    struct Message: Codable, Sendable {
        var id: String
        var to: String
    }
    // end

    private struct NoRoute: LocalizedError {
        var errorDescription: String? { "no route" }
    }

    /// A mail service that sends one letter for each key, after a number of failures.
    private final class Mailer: Sendable {
        private let state: Mutex<(failures: Int, letters: [String: Mail])>

        init(failures: Int = 0) { state = Mutex((failures, [:])) }

        var letters: [String: Mail] { state.withLock { $0.letters } }

        func send(_ mail: Mail, idempotencyKey: String?) async throws {
            try state.withLock { state in
                if state.failures > 0 {
                    state.failures -= 1
                    throw NoRoute()
                }
                state.letters[idempotencyKey ?? "-"] = mail
            }
        }

        func hasSent(_ key: String?) async throws -> Bool { letters[key ?? "-"] != nil }
    }

    private final class Lines: Sendable {
        private let lines = Mutex<[String]>([])

        var all: [String] { lines.withLock { $0 } }

        func add(_ line: String) { lines.withLock { $0.append(line) } }
    }

    private let printed = Lines()
    private let mail = Mail(to: "ada@example.com", text: "Welcome")

    /// Replaces `print` in the examples.
    private func print(_ items: Any...) { printed.add(items.map { "\($0)" }.joined(separator: " ")) }

    private static func makeHost() async throws -> ScriptHost { try await ScriptHost(database: .inMemory()) }

    @Test func `adding and handling a job`() async throws {
        // example
        let host = try await ScriptHost(database: .pool("shop.sqlite"))
        let mails = host.jobs("mail")
        let mail = Mail(to: "ada@example.com", text: "Welcome")
        let id = try await mails.enqueue(mail)
        print(id, try await mails.counts().ready)
        // end
        // example
        let handler = try await mails.handle(Mail.self) { job in
            print("attempt \(job.attempt): mail to \(job.payload.to)")
        }
        try await handler.waitUntilIdle()
        print(try await mails.counts().done)
        // end
        #expect(printed.all == ["1 1", "attempt 1: mail to ada@example.com", "1"])
        // example
        try await mails.enqueue(
            mail, orderBy: "order 7", delay: .seconds(300), priority: 1)
        print(try await mails.counts().delayed)
        // end
        #expect(printed.all.last == "1")
    }

    @Test func `a row and its job`() async throws {
        let host = try await Self.makeHost(), mails = host.jobs("mail")
        // example
        try await host.run(file: "\(folder)/jobs/orders.lua")
        let number: Int = try await host.call("order", "ada@example.com")
        print(number, try await mails.counts().ready)
        // end
        #expect(printed.all == ["1 1"])
        let key: String = try await host.run(source: "return perilune.jobs('mail'):find('order 1').job_key")
        #expect(key == "order 1")
    }

    @Test func `outcomes, and the retry of a dead job`() async throws {
        let clock = ManualClock(), mailer = Mailer(failures: 3)
        try await DependencyContainer.with {
            $0.date = .manual(clock)
        } operation: {
            let host = try await Self.makeHost(), mails = host.jobs("mail")
            try await mails.enqueue(mail)
            // Advances the clock during pauses only, because an attempt would exceed its time limit.
            let passing = Task {
                while !Task.isCancelled {
                    if try await mails.counts().delayed == 1 { clock.advance(by: 60) }
                    await Task.yield()
                }
            }
            defer { passing.cancel() }
            // example
            let handler = try await mails.handle(
                Mail.self, attempts: 3, backoff: .seconds(1)...(.seconds(60)),
                timeout: .seconds(30)
            ) { job in
                try await mailer.send(job.payload, idempotencyKey: job.key)
            }
            for await outcome in handler.outcomes {
                print(outcome.attempt, outcome.state)
                if outcome.state != .failed { break }
            }
            // end
            #expect(printed.all == ["1 failed", "2 failed", "3 dead"])
            // example
            let dead: [DeadLetter] = try await host.run(
                source: "return perilune.jobs('mail'):list{ state = 'dead' }")
            for letter in dead {
                print(letter.id, letter.attempts)
                try await mails.retry(letter.id)
            }
            try await handler.waitUntilIdle()
            print(try await mails.counts().dead)
            // end
            #expect(printed.all.suffix(2) == ["1 3", "0"])
            #expect(dead.first?.error?.contains("no route") == true)
            #expect(mailer.letters.count == 1)
            await host.close()
        }
    }

    @Test func `the key of a job`() async throws {
        let host = try await Self.makeHost(), mails = host.jobs("mail"), mailer = Mailer()
        // example
        let first = try await mails.enqueue(mail, key: "order 7")
        let again = try await mails.enqueue(mail, key: "order 7")
        print(first == again)
        let handler = try await mails.handle(Mail.self) { job in
            let key = job.key ?? "mail \(job.id)"
            try await mailer.send(job.payload, idempotencyKey: key)
        }
        // end
        try await handler.waitUntilIdle()
        #expect(printed.all == ["true"])
        #expect(mailer.letters.keys.sorted() == ["order 7"])
    }

    @Test func `a repeated attempt`() async throws {
        let host = try await Self.makeHost(), mails = host.jobs("mail"), mailer = Mailer()
        try await mails.enqueue(mail, key: "order 7")
        // example
        let handler = try await mails.handle(Mail.self) { job in
            if job.isRepeat, try await mailer.hasSent(job.key) { return }
            try await mailer.send(job.payload, idempotencyKey: job.key)
        }
        // end
        try await handler.waitUntilIdle()
        #expect(mailer.letters.keys.sorted() == ["order 7"])
    }

    @Test func `a job that calls a script`() async throws {
        let host = try await Self.makeHost(), mails = host.jobs("mail")
        try await mails.enqueue(mail)
        // example
        try await host.run(file: "\(folder)/jobs/letters.lua")
        let handler = try await mails.handle(Mail.self) { job in
            let text: String = try await host.call("letter", job.payload)
            print(text)
        }
        try await handler.waitUntilIdle()
        // end
        #expect(printed.all == ["Dear ada@example.com: Welcome"])
        await host.close()
    }

    @Test func `a job of isolated scripts`() async throws {
        var configuration = ScriptHost.Configuration(database: .inMemory())
        // example
        configuration.isolation = .process()
        let host = try await ScriptHost(configuration)
        try await host.register(module: "mail") { module in
            module.function("send", parameters: ["to"], effect: .external) {
                (to: String) async throws in
                print("mail to \(to)")
            }
        }
        try await host.run(file: "\(folder)/jobs/isolated.lua")
        try await host.jobs("mail").enqueue(mail)
        // end
        #expect(await eventually { printed.all == ["mail to ada@example.com"] })
        await host.close()
    }

    // example
    @Test func `a mail that fails is sent again`() async throws {
        let clock = ManualClock(), mailer = Mailer(failures: 1)
        try await DependencyContainer.with {
            $0.date = .manual(clock)
        } operation: {
            let host = try await ScriptHost(database: .inMemory())
            let mails = host.jobs("mail")
            let handler = try await mails.handle(Mail.self) { job in
                try await mailer.send(job.payload, idempotencyKey: job.key)
            }
            try await mails.enqueue(mail)
            try await handler.waitUntilIdle()
            #expect(try await mails.counts().delayed == 1)
            clock.advance(by: 2)  // the first pause is at most 1.25 s
            let last = await handler.outcomes.first { $0.state != .failed }
            #expect(last?.state == .done && last?.attempt == 2)
        }
    }
    // end

    @Test func `the call that a function serves`() async throws {
        let host = try await Self.makeHost(), mailer = Mailer()
        // example
        try await host.register(module: "mail") { module in
            module.function(
                "send", parameters: ["to", "text"], effect: .external
            ) { (to: String, text: String) async throws in
                let message = RunOptions.current?.logMetadata["message"]
                try await mailer.send(
                    Mail(to: to, text: text),
                    idempotencyKey: "\(message ?? "none") \(to)")
            }
        }
        let options = RunOptions(logMetadata: ["message": "m1"])
        try await ScriptHost.withOptions(options) {
            try await host.run(
                source: "require('mail').send('ada@example.com', 'Welcome')")
        }
        print(mailer.letters.keys.sorted())
        // end
        #expect(printed.all == [#"["m1 ada@example.com"]"#])
        try await host.run(file: "\(folder)/plugins/receipts.lua")
        // example
        func handle(_ message: Message) async throws -> Int {
            let options = RunOptions(logMetadata: ["message": message.id])
            return try await ScriptHost.withOptions(options) {
                try await host.call("handle", message)
            }
        }
        for attempt in 1...2 {
            let message = Message(id: "m2", to: "bo@example.com")
            print(attempt, "receipt", try await handle(message))
        }
        print(mailer.letters.keys.filter { $0.hasPrefix("m2") })
        // end
        #expect(printed.all.dropFirst() == ["1 receipt 1", "2 receipt 1", #"["m2 bo@example.com"]"#])
    }
}
