import PeriluneDependencies
import Testing

@Suite struct OverrideTests {
    private static func name() async throws -> String {
        try await DependencyContainer.value(for: ResourceKey.self).name
    }

    @Test func `the innermost override takes precedence over the test's value, the program's value and the default`() async throws
    {
        try await DependencyContainer.inProcess(.test) {
            try await #expect(DependencyContainer.value(for: OtherKey.self).name == "default other")
            try await DependencyContainer.prepare { $0.resource = .named("process") }
            try await #expect(Self.name() == "process")
            try await DependencyContainer.withTestScope {
                try await #expect(Self.name() == "process")
            }
            try await DependencyContainer.withTestScope {
                try await DependencyContainer.prepare { $0.resource = .named("test") }
                try await #expect(Self.name() == "test")
                try await DependencyContainer.with {
                    $0.resource = .named("outer")
                } operation: {
                    try await DependencyContainer.with {
                        $0.resource = .named("inner")
                    } operation: {
                        try await #expect(Self.name() == "inner")
                    }
                    try await #expect(Self.name() == "outer")
                }
                try await #expect(Self.name() == "test")
            }
            try await #expect(Self.name() == "process")
        }
    }

    @Test func `an override ends when its operation throws`() async throws {
        try await DependencyContainer.inProcess(.live) {
            try await DependencyContainer.prepare { $0.resource = .named("process") }
            await #expect(throws: Failure.self) {
                try await DependencyContainer.with {
                    $0.resource = .named("override")
                } operation: {
                    try await #expect(Self.name() == "override")
                    throw Failure()
                }
            }
            try await #expect(Self.name() == "process")
        }
    }

    @Test func `a synchronous operation uses its container argument`() async throws {
        let container = DependencyContainer.makeTestScope()
        #expect(container.with { DependencyContainer.current } === container)
        #expect(DependencyContainer.current !== container)
    }

    @Test func `an override does not affect other dependencies`() async throws {
        try await DependencyContainer.inProcess(.live) {
            try await DependencyContainer.prepare { $0.other = .named("other") }
            let before = try await DependencyContainer.value(for: OtherKey.self)
            try await DependencyContainer.with {
                $0.resource = .named("override")
            } operation: {
                try await #expect(DependencyContainer.value(for: OtherKey.self) === before)
            }
        }
    }

    @Test func `child tasks inherit overrides, and detached tasks get overrides through the container`() async throws {
        try await DependencyContainer.inProcess(.live) {
            try await DependencyContainer.with {
                $0.resource = .named("override")
            } operation: {
                async let child = Self.name()
                try await #expect(child == "override")
                try await #expect(Task { try await Self.name() }.value == "override")
                let container = DependencyContainer.current
                let detached = Task.detached { try await container.with { try await Self.name() } }
                try await #expect(detached.value == "override")
            }
        }
    }

    @Test func `a value is created once per override, for any number of tasks`() async throws {
        try await DependencyContainer.inProcess(.live) {
            try await DependencyContainer.with {
                $0.resource = .named("override")
            } operation: {
                let found = try await withThrowingTaskGroup(of: Resource.self) { group in
                    for _ in 0..<50 { group.addTask { try await DependencyContainer.value(for: ResourceKey.self) } }
                    return try await group.reduce(into: Set<ObjectIdentifier>()) { $0.insert(ObjectIdentifier($1)) }
                }
                #expect(found.count == 1)
            }
        }
    }

    @Test func `each context has separate values`() async throws {
        try await DependencyContainer.inProcess(.live) {
            try await DependencyContainer.prepare { $0.resource = .named("program") }
            let live = try await DependencyContainer.value(for: ResourceKey.self)
            try await DependencyContainer.with(context: .preview) {
                let preview = try await DependencyContainer.value(for: ResourceKey.self)
                #expect(preview.name == "program")
                #expect(preview.context == .preview)
                #expect(preview !== live)
                try #expect(DependencyContainer.current.context == .preview)
                // Nested overrides belong to the surrounding context.
                try await DependencyContainer.with {
                    $0.other = .named("x")
                } operation: {
                    try await #expect(DependencyContainer.value(for: ResourceKey.self) === preview)
                    try await #expect(DependencyContainer.value(for: OtherKey.self).context == .preview)
                }
            }
            #expect(live.context == .live)
            try await #expect(DependencyContainer.value(for: ResourceKey.self) === live)
        }
    }

    @Test func `a factory that throws can be retried`() async throws {
        try await DependencyContainer.inProcess(.live) {
            let attempts = Closings()
            let source = ResourceSource { context in
                attempts.add("")
                guard attempts.names.count > 1 else { throw Failure() }
                return Resource("second", context)
            }
            try await DependencyContainer.with {
                $0.resource = source
            } operation: {
                await #expect(throws: Failure.self) { try await Self.name() }
                try await #expect(Self.name() == "second")
            }
        }
    }

    @Test func `the operation of an override runs on the actor of the caller`() async throws {
        #expect(try await Caller().staysInOperations())
    }
}

/// Records the isolation in which its operations run.
private actor Caller {
    func staysInOperations() async throws -> Bool {
        let isolations = [
            try await DependencyContainer.with(operation: isolationHere),
            try await DependencyContainer.withTestScope(operation: isolationHere),
            await DependencyContainer.makeTestScope().with(isolationHere),
        ]
        return isolations.allSatisfy { $0 === self }
    }
}

nonisolated(nonsending) private func isolationHere() async -> (any Actor)? { #isolation }
