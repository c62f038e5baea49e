import Foundation
import PeriluneTestTools
import Testing

@testable import Perilune
@testable import PeriluneIsolation
@testable import PeriluneLua

/// Worker processes that a script has taken over and that send arbitrary bytes. The host must keep working and return values or
/// errors.
@Suite(.patience) struct HostileWorkerTests {
    private static let program: String = {
        let tests = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        return ((tests ?? CommandLine.arguments[0]) as NSString).deletingLastPathComponent + "/perilune-isolation-probe"
    }()

    private static let ready = Frame(.ready, 0, [.list([.text("limits")])])

    /// Creates a host whose process sends the given bytes.
    private func withHost(
        sending bytes: [UInt8], late: [UInt8] = [], named name: String = "bytes", grace: Duration = .milliseconds(20),
        _ body: nonisolated(nonsending) (ScriptHost) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            try Data(bytes).write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
            if !late.isEmpty { try Data(late).write(to: URL(fileURLWithPath: "\(folder)/\(name).late")) }
            let host = try await makeIsolatedHost {
                $0.database = .queue("\(folder)/\(name)", inEveryContext: true)
                $0.output = .discarded
                $0.limits = LuaLimits(time: grace)
                $0.isolation = .process(grace: grace, program: Self.program)
            }
            try await body(host)
        }
    }

    /// Keeps the thread busy.
    private static func occupyThread(for duration: Duration) {
        let end = ContinuousClock.now + duration
        while ContinuousClock.now < end { sched_yield() }
    }

    /// Runs a script with any outcome that does not harm the host.
    private func outcome(of host: ScriptHost) async throws -> LuaError.Code? {
        do {
            let _: ScriptValue = try await host.run(source: "return 1")
            return nil
        } catch let error as LuaError {
            return error.code
        } catch is CancellationError {
            return .cancelled
        }
    }

    @Test func `a worker process that sends a wrong greeting or garbage makes the host's creation fail`() async throws {
        var generator = SeededGenerator(state: 11)
        for _ in 0..<20 {
            let bytes = generator.bytes(upTo: 200) + [255, 255, 255, 255]
            await #expect(throws: (any Error).self) { try await withHost(sending: bytes) { _ in } }
        }
        for frame in [Frame(.unready, 0, []), Frame(.result, 1, [.integer(1)]), Frame(.print, 0, [.text("x")])] {
            let bytes = try frame.encoded()
            await #expect(throws: LuaError.self) { try await withHost(sending: bytes) { _ in } }
        }
    }

    @Test func `random frames from a worker process become values or errors`() async throws {
        var outcomes: [LuaError.Code?: Int] = [:]
        for seed in 0..<80 {
            var generator = SeededGenerator(state: UInt64(seed))
            var bytes = try Self.ready.encoded()
            for _ in 0..<30 {
                let kind = UInt8.random(in: seed.isMultiple(of: 4) ? 0...255 : 66...76, using: &generator)
                // The first request has number 1.
                let number = UInt32.random(in: 0...3, using: &generator)
                var values = generator.values()
                if Bool.random(using: &generator) { values.insert(.integer(Int64.random(in: 0...2, using: &generator)), at: 0) }
                if [WorkerMessage.callFunction, .callAtOnce].contains(where: { $0.rawValue == kind }) {
                    values = [
                        .integer(1), .text("m"), .text(["f", "waits"].randomElement(using: &generator)!),
                        .list(generator.values()),
                    ]
                }
                bytes += try Frame(kind: kind, request: number, values: values).encoded()
            }
            var id: Int32?
            try await withHost(sending: bytes) { host in
                try await host.register(module: "m") { m in
                    m.function("f") { (value: ScriptValue) -> ScriptValue in value }
                    m.function("waits") { (value: ScriptValue) async -> ScriptValue in value }
                }
                id = host.workerProcessID
                outcomes[try await outcome(of: host), default: 0] += 1
                _ = try? await host.waitUntilIdle()
            }
            let process = try #require(id)
            #expect(await eventually { kill(process, 0) != 0 })
        }
        #expect(outcomes.values.reduce(0, +) == 80, "\(outcomes)")
    }

    @Test func `a worker process that violates the protocol is killed, and the error reports the violation`() async throws {
        for frame in [Frame(.ready, 0, []), Frame(.result, 77, []), Frame(.print, 0, []), Frame(.callFunction, 1, [])] {
            try await withHost(sending: Self.ready.encoded() + frame.encoded()) { host in
                #expect(await eventually { host.hasCrashed })
                let error = await #expect(throws: LuaError.self) { try await host.run(source: "") }
                #expect(error?.code == .crashed)
                #expect(error?.message.contains("it sent a message that is not allowed") == true, "\(String(describing: error))")
            }
        }
    }

    @Test(arguments: [WorkerMessage.callFunction, .callAtOnce])
    func `a worker process that sends endless requests without reading answers is killed and blocks no threads of the host`(
        _ message: WorkerMessage
    ) async throws {
        var bytes = try Self.ready.encoded()
        let argument = WireValue.list([.text(String(repeating: "x", count: 2000))])
        for number in 1...60_000 {
            bytes += try Frame(message, UInt32(number), [.integer(1), .text("m"), .text("f"), argument]).encoded()
        }
        try await withHost(sending: bytes, named: "deaf") { host in
            try await host.register(module: "m") { m in m.function("f") { (text: String) -> String in text } }
            let code = try await outcome(of: host)
            #expect([.timeout, .crashed].contains(code))
            // Other hosts keep running.
            #expect(try await makeIsolatedHost().run(source: "return 1") == 1)
        }
    }

    @Test(arguments: [WorkerMessage.callFunction, .callAtOnce])
    func `a request that arrives before its host is initialized is answered and delays no limit`(_ message: WorkerMessage)
        async throws
    {
        let bytes = try Self.ready.encoded() + Frame(message, 1, [.integer(0), .text("m"), .text("f"), .list([])]).encoded()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await self.withHost(sending: bytes) { host in
                    let code = try await self.outcome(of: host)
                    #expect(code == .timeout)
                }
            }
            // The task resumes after all other tasks, long after its process is ready.
            for _ in 0..<150 { group.addTask { Self.occupyThread(for: .milliseconds(3)) } }
            try await group.waitForAll()
        }
    }

    @Test func `a worker process whose function call never returns is killed at the limit`() async throws {
        let call = try Frame(.callFunction, 1, [.integer(1), .text("m"), .text("never"), .list([])]).encoded()
        // The call arrives within the grace period.
        try await withHost(sending: Self.ready.encoded(), late: call, grace: .milliseconds(300)) { host in
            let began = Tally()
            try await host.register(module: "m") { m in
                m.function("never") { () async throws in
                    began.add()
                    try await suspendUntilCancelled()
                }
            }
            #expect(try await outcome(of: host) == .timeout)
            #expect(began.count == 1)
        }
    }

    @Test func `a worker process whose synchronous function call exceeds the limit is killed when the call returns`() async throws
    {
        let call = try Frame(.callAtOnce, 1, [.integer(1), .text("m"), .text("slow"), .list([])]).encoded()
        // The call arrives within the grace period and outlasts it.
        try await withHost(sending: Self.ready.encoded(), late: call, grace: .milliseconds(300)) { host in
            let ended = Tally()
            try await host.register(module: "m") { m in
                m.function("slow") { () -> Void in
                    Self.occupyThread(for: .seconds(2))
                    ended.add()
                }
            }
            #expect(try await outcome(of: host) == .timeout)
            #expect(ended.count == 1)
        }
    }

    @Test func `decoding any frame value returns a value or an error`() throws {
        let state = try LuaState()
        var generator = SeededGenerator(state: 5)
        var made = 0
        for _ in 0..<20_000 {
            let value = generator.value()
            let error = LuaError(value)
            #expect(!error.message.isEmpty || value["message"] != nil)
            let setup = WorkerSetup(value)
            #expect(setup.libraries.isSubset(of: .sandboxed))
            if (try? value.lua(in: state)) != nil { made += 1 }
        }
        #expect(made > 1000)
    }

    @Test func `frame fields with unexpected types are ignored or refused`() {
        var generator = SeededGenerator(state: 6)
        let setup = WorkerSetup().value, error = WireValue(LuaError(.runtime, "m"))
        for original in [setup, error] {
            guard case .table(let pairs) = original else { continue }
            for _ in 0..<5000 {
                let changed = WireValue.table(
                    pairs.map { pair in WireValue.Pair(pair.key, Bool.random(using: &generator) ? pair.value : generator.value())
                    })
                #expect(WorkerSetup(changed).libraries.isSubset(of: .sandboxed))
                #expect(LuaError(changed).code.description.isEmpty == false)
            }
        }
    }
}
