import Perilune
import PeriluneLua
import Testing

@Suite struct HostTests {
    @Test(.timeLimit(.minutes(1)))
    func `scripts run on threads of their own, so that Swift's concurrency goes on while they do`() async throws {
        // More than the threads that Swift's concurrency has on any machine that runs this.
        let hosts = try (0..<64).map { _ in try testHost { $0.limits.isCancellable = true } }
        let runs = hosts.map { host in Task { try await host.run(source: "while true do end") } }
        try await Task.sleep(for: .milliseconds(50))
        for host in hosts { host.cancel() }
        for run in runs {
            let error = await #expect(throws: LuaError.self) { try await run.value }
            #expect(error?.code == .cancelled)
        }
    }

    @Test func `a script has a large stack`() async throws {
        try await script("""
            -- Each level is a protected call in C.
            local function deep(n) return n == 0 and 0 or 1 + select(2, pcall(deep, n - 1)) end
            equal(deep(150), 150)
            """)
    }
}
