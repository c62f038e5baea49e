import Logging
import Perilune
import PeriluneTestSupport
import PeriluneTestTools
import Synchronization
import Testing

/// Limits, output and log fields of single runs.
@Suite struct RunOptionTests {
    private static func host(_ place: ScriptPlace, _ lines: Lines = Lines()) async throws -> ScriptHost {
        var configuration = place.configuration(ScriptHost.Configuration(database: .inMemory()))
        configuration.limits.time = .seconds(3600)
        configuration.output = .closure { lines.add($0) }
        return try await ScriptHost(configuration)
    }

    private final class Lines: Sendable {
        private let lines = Mutex<[String]>([])

        func add(_ line: String) { lines.withLock { $0.append(line) } }

        var all: [String] { lines.withLock { $0 } }
    }

    @Test(.patience, .endsLoopBySignal, arguments: ScriptPlace.allCases)
    func `a run can have separate limits`(_ place: ScriptPlace) async throws {
        let host = try await Self.host(place)
        let timeout = await #expect(throws: LuaError.self) {
            try await ScriptHost.withOptions(RunOptions(limits: LuaLimits(time: .milliseconds(20)))) {
                try await host.run(source: "while true do end")
            }
        }
        #expect(timeout?.code == .timeout)
        #expect(timeout?.message == "the script ran longer than its limit of 0.02 seconds")
        let budget = await #expect(throws: LuaError.self) {
            try await ScriptHost.withOptions(RunOptions(limits: LuaLimits(instructions: 10_000))) {
                try await host.run(source: "while true do end")
            }
        }
        #expect(budget?.code == .budget)
        #expect(budget?.message == "the script exceeded its limit of 10000 instructions")
        #expect(try await host.run(source: "for i = 1, 1000000 do end return 1") == 1)
    }

    @Test(arguments: ScriptPlace.allCases)
    func `limits for a run are refused in a host without limits`(_ place: ScriptPlace) async throws {
        let host = try await ScriptHost(place.configuration(ScriptHost.Configuration(database: .inMemory())))
        let error = await #expect(throws: LuaError.self) {
            try await ScriptHost.withOptions(RunOptions(limits: LuaLimits(time: .seconds(1)))) { try await host.run(source: "") }
        }
        #expect(error?.code == .usage)
        try await host.run(source: "")
    }

    @Test(arguments: ScriptPlace.allCases)
    func `a run can have a separate output`(_ place: ScriptPlace) async throws {
        let common = Lines(), own = Lines()
        let host = try await Self.host(place, common)
        try await host.run(source: "print('a')")
        try await ScriptHost.withOptions(RunOptions(output: .closure { own.add($0) })) {
            try await host.run(source: "print('b', 1)")
        }
        try await host.run(source: "print('c')")
        #expect(common.all == ["a", "c"])
        #expect(own.all == ["b\t1"])
    }

    @Test func `the output of a host that prints to standard output cannot be redirected`() async throws {
        let host = try await ScriptHost(ScriptHost.Configuration(database: .inMemory()))
        let error = await #expect(throws: LuaError.self) {
            try await ScriptHost.withOptions(RunOptions(output: .discarded)) { try await host.run(source: "print(1)") }
        }
        #expect(error?.code == .usage)
    }

    @Test func `functions and output closures can read the options of their run`() async throws {
        let tags = Lines()
        var configuration = ScriptHost.Configuration(database: .inMemory())
        configuration.output = .closure { _ in tags.add("print \(RunOptions.current?.tag ?? "none")") }
        let host = try await ScriptHost(configuration)
        try await host.register(module: "m") { $0.function("f") { tags.add("f \(RunOptions.current?.tag ?? "none")") } }
        try await ScriptHost.withOptions(RunOptions(tag: "outer", logMetadata: ["request": "1"])) {
            try await ScriptHost.withOptions(RunOptions(logMetadata: ["user": "2"])) {
                #expect(RunOptions.current?.logMetadata == ["request": "1", "user": "2"])
                try await host.run(source: "print() require('m').f()")
            }
        }
        try await host.run(source: "print()")
        #expect(tags.all == ["print outer", "f outer", "print none"])
    }
}
