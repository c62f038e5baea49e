import PeriluneDependencies
import Testing

@Suite struct TestScopeTests {
    private static func resource() async throws -> Resource {
        try await DependencyContainer.value(for: ResourceKey.self)
    }

    // These two tests run in the process's container, like the tests of an app.

    @Test func `each test has a separate value of a dependency and keeps it`() async throws {
        try await DependencyContainer.prepare { $0.resource = .named("one") }
        let first = try await Self.resource()
        #expect(first.name == "one")
        #expect(first.context == .test)
        try await #expect(Self.resource() === first)
        try await #expect(DependencyContainer.uuid().uuidString.hasSuffix("0000"))
        try await #expect(DependencyContainer.uuid().uuidString.hasSuffix("0001"))
    }

    @Test func `another test may prepare the same dependency, and its UUIDs count from zero`() async throws {
        try await DependencyContainer.prepare { $0.resource = .named("two") }
        try await #expect(Self.resource().name == "two")
        try await #expect(DependencyContainer.uuid().uuidString.hasSuffix("0000"))
    }

    @Test(arguments: 1...3)
    func `cases of one test without separate containers get an error instead of sharing values`(_ number: Int) async throws {
        let error = await #expect(throws: DependencyError.self) { try await Self.resource() }
        #expect(error?.code == .noTest)
        #expect(error?.message.contains("trait of PeriluneTestSupport") == true)
        // Values without an identity are new each time.
        for _ in 1...2 {
            try await #expect(DependencyContainer.uuid().uuidString.hasSuffix("0000"))
        }
    }

    @Test(arguments: 1...3) func `cases with separate containers have separate values`(_ number: Int) async throws {
        try await DependencyContainer.withTestScope {
            try await DependencyContainer.prepare { $0.resource = .named("\(number)") }
            try await #expect(Self.resource().name == "\(number)")
        }
    }

    @Test func `if the current test cannot be determined, dependencies throw an error with advice`() async throws {
        let error = await #expect(throws: DependencyError.self) {
            try await Task.detached { try await Self.resource() }.value
        }
        #expect(error?.code == .noTest)
        #expect(error?.message.contains("DependencyContainer.current") == true)
        #expect(error?.message.contains("withTestScope") == true)
    }

    @Test func `values that the program prepares before its tests are recreated for each test`() async throws {
        let test = TestNumber()
        try await DependencyContainer.inProcess(.test, identity: { test.identity }) {
            try await DependencyContainer.prepare { $0.resource = .named("for all") }
            try await DependencyContainer.withTestScope {
                let first = try await Self.resource()
                #expect(first.name == "for all")
                try await DependencyContainer.withTestScope {
                    try await #expect(Self.resource() !== first)
                }
            }
        }
    }

    @Test func `a hundred concurrent tests share no dependencies`() async throws {
        try await DependencyContainer.inProcess(.test) {
            try await DependencyContainer.prepare { $0.resource = .named("template") }
            let found = try await withThrowingTaskGroup(of: [Resource].self) { group in
                for _ in 0..<100 {
                    group.addTask {
                        try await DependencyContainer.withTestScope {
                            async let first = Self.resource()
                            async let second = Self.resource()
                            return try await [first, second]
                        }
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(found.allSatisfy { $0[0] === $0[1] })
            #expect(Set(found.map { ObjectIdentifier($0[0]) }).count == 100)
        }
    }

    @Test func `a program that a test starts counts as that test if its environment identifies it`() async throws {
        try await DependencyContainer.inProcess(.test, identity: { .notRunByTests }) {
            try await DependencyContainer.prepare { $0.resource = .named("spawned") }
            let first = try await Self.resource()
            let second = try await Task.detached { [current = DependencyContainer.current] in
                try await current.value(for: ResourceKey.self)
            }.value
            #expect(first === second)
        }
    }
}

/// A process whose tests cannot be determined.
private struct TestNumber: Sendable {
    var identity: TestIdentity { .unknown }
}
