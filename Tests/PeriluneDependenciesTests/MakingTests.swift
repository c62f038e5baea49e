@testable import PeriluneDependencies
import PeriluneTestTools
import Synchronization
import Testing

@Suite(.patience) struct MakingTests {
    @Test func `dependencies that require each other are an error instead of a deadlock`() async throws {
        try await DependencyContainer.inProcess(.live) {
            let error = await #expect(throws: DependencyError.self) { try await DependencyContainer.value(for: HenKey.self) }
            #expect(error?.code == .cycle)
            #expect(error?.message == "the dependency egg depends on itself: egg → hen → egg")
            // The result does not depend on which task starts first.
            await #expect(throws: DependencyError.self) {
                async let hen = DependencyContainer.value(for: HenKey.self)
                async let egg = DependencyContainer.value(for: EggKey.self)
                _ = try await (hen, egg)
            }
            await #expect(throws: DependencyError.self) { try await DependencyContainer.prepare { $0[HenKey.self] = 1 } }
        }
    }

    @Test func `a task that outlives its factory may use the factory's dependency`() async throws {
        try await DependencyContainer.inProcess(.live) {
            let later = Mutex<Task<Resource, any Error>?>(nil)
            let gate = AsyncStream.makeStream(of: Void.self)
            let source = ResourceSource { context in
                let task = Task {
                    await gate.stream.first { _ in true }
                    return try await DependencyContainer.value(for: ResourceKey.self)
                }
                later.withLock { $0 = task }
                return Resource("made", context)
            }
            try await DependencyContainer.prepare { $0.resource = source }
            gate.continuation.yield()
            try await #expect(later.withLock { $0 }?.value.name == "made")
        }
    }

    @Test func `if one waiting task is cancelled, the others still get the value`() async throws {
        try await DependencyContainer.inProcess(.live) {
            let slow = SlowSource()
            try await DependencyContainer.with {
                $0.resource = slow.source
            } operation: {
                let one = Task { try await DependencyContainer.value(for: ResourceKey.self) }
                await slow.started.stream.first { _ in true }
                let other = Task { try await DependencyContainer.value(for: ResourceKey.self) }
                let container = DependencyContainer.current
                try #require(await eventually { await container.made.first?.making.waiterCount == 2 })
                one.cancel()
                await #expect(throws: CancellationError.self) { try await one.value }
                slow.gate.continuation.yield()
                try await #expect(other.value.name == "attempt 1")
            }
        }
    }

    @Test func `the creation of a value is cancelled when no task waits for it, and restarted for the next one`() async throws {
        try await DependencyContainer.inProcess(.live) {
            let slow = SlowSource()
            try await DependencyContainer.with {
                $0.resource = slow.source
            } operation: {
                let one = Task { try await DependencyContainer.value(for: ResourceKey.self) }
                await slow.started.stream.first { _ in true }
                one.cancel()
                await #expect(throws: CancellationError.self) { try await one.value }
                let other = Task { try await DependencyContainer.value(for: ResourceKey.self) }
                await slow.started.stream.first { _ in true }
                slow.gate.continuation.yield()
                try await #expect(other.value.name == "attempt 2")
            }
        }
    }
}

/// Creates a resource on request.
private final class SlowSource: Sendable {
    let started = AsyncStream.makeStream(of: Void.self)
    let gate = AsyncStream.makeStream(of: Void.self)
    private let attempts = Mutex(0)

    var source: ResourceSource {
        ResourceSource { context in
            let attempt = self.attempts.withLock { attempts in
                attempts += 1
                return attempts
            }
            self.started.continuation.yield()
            var iterator = self.gate.stream.makeAsyncIterator()
            await iterator.next()
            try Task.checkCancellation()
            return Resource("attempt \(attempt)", context)
        }
    }
}

private enum HenKey: DependencyContainer.Key {
    static let name = "hen"

    static func defaultSource(in context: DependencyContainer.Context) -> DependencyContainer.Default<Int> { .value(0) }

    static func makeValue(of source: Int, in scope: DependencyContainer) async throws -> String {
        "a hen of \(try await scope.value(for: EggKey.self))"
    }
}

private enum EggKey: DependencyContainer.Key {
    static let name = "egg"

    static func defaultSource(in context: DependencyContainer.Context) -> DependencyContainer.Default<Int> { .value(0) }

    static func makeValue(of source: Int, in scope: DependencyContainer) async throws -> String {
        "an egg of \(try await scope.value(for: HenKey.self))"
    }
}
