import Perilune
import PeriluneLua
import Testing

@Suite struct JobQueueTests {
    private struct Mail: Codable { let to: String }

    @Test func `jobs that Swift enqueues are handled by a script`() async throws {
        let host = try await ScriptHost(.init(database: .inMemory))
        let mails = host.jobs("mail")
        let first = try await mails.enqueue(Mail(to: "ada"), .init(key: "a"))
        #expect(try await mails.enqueue(Mail(to: "bob"), .init(key: "a")) == first)
        try await mails.enqueue(Mail(to: "eve"), .init(orderBy: "x", delay: .seconds(60), priority: 3))
        #expect(try await mails.counts()["ready"] == 1)
        let seen: String = try await host.run(source: """
            local seen = {}
            local handler = perilune.jobs("mail"):handle(function(job) seen[#seen + 1] = job.to end)
            perilune.sleep("2m")
            handler:stop()
            return table.concat(seen, " ")
            """)
        #expect(seen == "ada eve")
        #expect(try await mails.counts()["done"] == 2)
        #expect(try await mails.retry(first) == false)
        #expect(try await mails.cancel(99) == false)
    }

    @Test func `invalid options are reported`() async throws {
        let host = try await ScriptHost(.init(database: .inMemory))
        let error = await #expect(throws: LuaError.self) { try await host.jobs("mail").enqueue(1, .init(key: "a", onKey: "replaced")) }
        #expect(error?.kind == "unknown_on_key")
    }
}
