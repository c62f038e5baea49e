import PeriluneDependencies
import PeriluneTestTools
import Testing

@Suite struct PreparingTests {
    @Test func `a prepared dependency is created once and shared`() async throws {
        try await DependencyContainer.inProcess(.live) {
            try await DependencyContainer.prepare { $0.resource = .named("a") }
            let first = try await DependencyContainer.value(for: ResourceKey.self)
            let second = try await DependencyContainer.value(for: ResourceKey.self)
            #expect(first.name == "a")
            #expect(first === second)
        }
    }

    @Test func `preparing a dependency twice is an error with advice and replaces nothing`() async throws {
        try await DependencyContainer.inProcess(.live) {
            try await DependencyContainer.prepare { $0.resource = .named("a") }
            let before = try await DependencyContainer.value(for: ResourceKey.self)
            await withKnownIssue {
                let error = await #expect(throws: DependencyError.self) {
                    try await DependencyContainer.prepare { $0.resource = .named("b") }
                }
                #expect(error?.code == .alreadyPrepared)
                #expect(error?.message.contains("DependencyContainer.with") == true)
            } matching: {
                "\($0)".contains("resource is prepared twice")
            }
            try await #expect(DependencyContainer.value(for: ResourceKey.self) === before)
        }
    }

    @Test func `preparing a dependency after its default was used is an error`() async throws {
        try await DependencyContainer.inProcess(.live) {
            let used = try await DependencyContainer.value(for: OtherKey.self)
            await withKnownIssue {
                let error = await #expect(throws: DependencyError.self) {
                    try await DependencyContainer.prepare { $0.other = .named("late") }
                }
                #expect(error?.code == .alreadyUsed)
            } matching: {
                "\($0)".contains("after it was used")
            }
            try await #expect(DependencyContainer.value(for: OtherKey.self) === used)
        }
    }

    @Test func `several dependencies are prepared together or not at all, and can be retried`() async throws {
        try await DependencyContainer.inProcess(.live) {
            let closings = Closings()
            await #expect(throws: Failure.self) {
                try await DependencyContainer.prepare {
                    $0.other = .named("other", closings)
                    $0.resource = .failing(Failure())
                }
            }
            let error = await #expect(throws: DependencyError.self) {
                try await DependencyContainer.value(for: ResourceKey.self)
            }
            #expect(error?.code == .notPrepared)
            // The resources are created in any order. A created resource is closed again.
            #expect(closings.names.count <= 1)
            try await DependencyContainer.prepare {
                $0.other = .named("other again")
                $0.resource = .named("resource")
            }
            try await #expect(DependencyContainer.value(for: OtherKey.self).name == "other again")
            try await #expect(DependencyContainer.value(for: ResourceKey.self).name == "resource")
        }
    }

    @Test func `a preparation whose closure throws prepares nothing`() async throws {
        try await DependencyContainer.inProcess(.live) {
            await #expect(throws: Failure.self) {
                try await DependencyContainer.prepare {
                    $0.resource = .named("a")
                    throw Failure()
                }
            }
            try await DependencyContainer.prepare { $0.resource = .named("b") }
            try await #expect(DependencyContainer.value(for: ResourceKey.self).name == "b")
        }
    }

    @Test func `if several tasks prepare a dependency concurrently, one succeeds and the others throw`() async throws {
        try await DependencyContainer.inProcess(.live) {
            // The factory is slow, so that all tasks have started.
            let begun = Tally()
            let slow = ResourceSource { context in
                await begun.wait(for: 8)
                return Resource("slow", context)
            }
            await withKnownIssue {
                let outcomes = await withTaskGroup(of: DependencyError.Code?.self) { group in
                    for _ in 0..<8 {
                        group.addTask {
                            begun.add()
                            do {
                                try await DependencyContainer.prepare { $0.resource = slow }
                                return nil
                            } catch {
                                return (error as? DependencyError)?.code
                            }
                        }
                    }
                    return await group.reduce(into: []) { $0.append($1) }
                }
                #expect(outcomes.count { $0 == nil } == 1)
                #expect(outcomes.count { $0 == .alreadyPrepared } == 7)
            } matching: {
                "\($0)".contains("prepared twice")
            }
        }
    }

    @Test func `a task that requests a dependency during its preparation waits for the value`() async throws {
        try await DependencyContainer.inProcess(.live) {
            let asked = Tally()
            let slow = ResourceSource { context in
                await asked.wait()
                return Resource("slow", context)
            }
            async let prepared: Void = DependencyContainer.prepare { $0.resource = slow }
            var found: Resource?
            while found == nil {
                do {
                    asked.add()
                    found = try await DependencyContainer.value(for: ResourceKey.self)
                } catch let error as DependencyError {
                    // The other task has not started.
                    #expect(error.code == .notPrepared)
                    await Task.yield()
                }
            }
            try await prepared
            #expect(found?.name == "slow")
        }
    }

    @Test(.patience) func `a dependency factory that never returns does not block a cancelled task`() async throws {
        try await DependencyContainer.inProcess(.live) {
            let started = AsyncStream.makeStream(of: Void.self)
            let never = ResourceSource { context in
                started.continuation.yield()
                try await suspendUntilCancelled()
                return Resource("never", context)
            }
            let preparing = Task { try await DependencyContainer.prepare { $0.resource = never } }
            await started.stream.first { _ in true }
            preparing.cancel()
            await #expect(throws: CancellationError.self) { try await preparing.value }
            // The preparation can be retried.
            try await DependencyContainer.prepare { $0.resource = .named("second") }
            try await #expect(DependencyContainer.value(for: ResourceKey.self).name == "second")
        }
    }

    @Test func `a value that is created during preparation sees the other prepared values`() async throws {
        try await DependencyContainer.inProcess(.live) {
            let uuids = UUIDSource.counting
            _ = uuids()
            try await DependencyContainer.prepare {
                $0.uuid = uuids
                $0.dependent = DependentSource()
            }
            try await #expect(DependencyContainer.value(for: DependentKey.self).hasSuffix("0001"))
        }
    }

    @Test func `in live, an unprepared dependency is an error`() async throws {
        try await DependencyContainer.inProcess(.live) {
            let error = await #expect(throws: DependencyError.self) {
                try await DependencyContainer.value(for: ResourceKey.self)
            }
            #expect(error?.code == .notPrepared)
            #expect(error?.message == "the dependency resource is used before it was prepared: prepare it")
        }
    }

    @Test(arguments: [DependencyContainer.Context.test, .preview])
    func `in tests and previews, an unprepared dependency has a default value and is reported`(
        _ context: DependencyContainer.Context
    )
        async throws
    {
        try await DependencyContainer.inProcess(context) {
            try await withKnownIssue {
                _ = try await DependencyContainer.value(for: ResourceKey.self)
            } matching: {
                "\($0)".contains("not provided: give it")
            }
            // Reported only once.
            let second = try await DependencyContainer.value(for: ResourceKey.self)
            #expect(second.name == "default")
            #expect(second.context == context)
        }
    }

    @Test func `closing releases the last created value first and allows preparing again`() async throws {
        try await DependencyContainer.inProcess(.live) {
            let closings = Closings()
            try await DependencyContainer.prepare { $0.resource = .named("first", closings) }
            try await DependencyContainer.prepare { $0.other = .named("second", closings) }
            try await DependencyContainer.close()
            #expect(closings.names == ["second", "first"])
            try await DependencyContainer.prepare { $0.resource = .named("third", closings) }
            try await #expect(DependencyContainer.value(for: ResourceKey.self).name == "third")
        }
    }
}

/// A dependency that depends on another one.
struct DependentSource: Sendable {}

enum DependentKey: DependencyContainer.Key {
    static let name = "dependent"

    static func defaultSource(in context: DependencyContainer.Context) -> DependencyContainer.Default<DependentSource> {
        .value(DependentSource())
    }

    static func makeValue(of source: DependentSource, in scope: DependencyContainer) async throws -> String {
        try await scope.value(for: UUIDKey.self)().uuidString
    }
}

extension DependencyContainer.Values {
    var dependent: DependentSource? {
        get { self[DependentKey.self] }
        set { self[DependentKey.self] = newValue }
    }
}
