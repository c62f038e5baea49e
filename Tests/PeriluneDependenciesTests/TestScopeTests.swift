import PeriluneDependencies
import Testing

@Suite struct TestScopeTests {
    private static func resource() async throws -> Resource {
        try await Dependencies.value(for: ResourceKey.self)
    }

    // These two run in the container of the process, as an app's tests do.

    @Test func `a test has a value of its own, and keeps it`() async throws {
        try await Dependencies.prepare { $0.resource = .named("one") }
        let first = try await Self.resource()
        #expect(first.name == "one")
        #expect(first.context == .test)
        try await #expect(Self.resource() === first)
        try await #expect(Dependencies.value(for: UUIDKey.self)().uuidString.hasSuffix("0000"))
        try await #expect(Dependencies.value(for: UUIDKey.self)().uuidString.hasSuffix("0001"))
    }

    @Test func `another test may prepare the same, and counts from the start`() async throws {
        try await Dependencies.prepare { $0.resource = .named("two") }
        try await #expect(Self.resource().name == "two")
        try await #expect(Dependencies.value(for: UUIDKey.self)().uuidString.hasSuffix("0000"))
    }

    @Test(arguments: 1...3)
    func `cases of one test never share: without a container of their own it is an error`(_ number: Int) async throws {
        let error = await #expect(throws: DependencyError.self) { try await Self.resource() }
        #expect(error?.code == .noTest)
        #expect(error?.message.contains("trait of PeriluneTestSupport") == true)
        // What need not be told apart is new each time.
        for _ in 1...2 {
            try await #expect(Dependencies.value(for: UUIDKey.self)().uuidString.hasSuffix("0000"))
        }
    }

    @Test(arguments: 1...3) func `cases with a container of their own have values of their own`(_ number: Int) async throws {
        try await Dependencies.withTestScope {
            try await Dependencies.prepare { $0.resource = .named("\(number)") }
            try await #expect(Self.resource().name == "\(number)")
        }
    }

    @Test func `where no test can be determined, it is an error that says what to do`() async throws {
        let error = await #expect(throws: DependencyError.self) {
            try await Task.detached { try await Self.resource() }.value
        }
        #expect(error?.code == .noTest)
        #expect(error?.message.contains("Dependencies.current") == true)
        #expect(error?.message.contains("withTestScope") == true)
    }

    @Test func `what the program prepares before its tests is made anew for each`() async throws {
        let test = TestNumber()
        try await Dependencies.inProcess(.test, identity: { test.identity }) {
            try await Dependencies.prepare { $0.resource = .named("for all") }
            try await Dependencies.withTestScope {
                let first = try await Self.resource()
                #expect(first.name == "for all")
                try await Dependencies.withTestScope {
                    try await #expect(Self.resource() !== first)
                }
            }
        }
    }

    @Test func `a hundred tests at once share nothing`() async throws {
        try await Dependencies.inProcess(.test) {
            try await Dependencies.prepare { $0.resource = .named("template") }
            let found = try await withThrowingTaskGroup(of: [Resource].self) { group in
                for _ in 0..<100 {
                    group.addTask {
                        try await Dependencies.withTestScope {
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

    @Test func `a program started by a test, told so by its environment, is one test`() async throws {
        try await Dependencies.inProcess(.test, identity: { .notRunByTests }) {
            try await Dependencies.prepare { $0.resource = .named("spawned") }
            let first = try await Self.resource()
            let second = try await Task.detached { [current = Dependencies.current] in
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
