import PeriluneDependencies
import Synchronization

/// A resource that a container creates and closes.
final class Resource: Sendable {
    let name: String
    let context: DependencyContainer.Context
    private let closings: Closings?

    init(_ name: String, _ context: DependencyContainer.Context, _ closings: Closings? = nil) {
        self.name = name
        self.context = context
        self.closings = closings
    }

    func close() { closings?.add(name) }
}

/// The names of closed resources, in order.
final class Closings: Sendable {
    private let list = Mutex<[String]>([])
    var names: [String] { list.withLock { $0 } }
    func add(_ name: String) { list.withLock { $0.append(name) } }
}

/// The configuration of a resource.
struct ResourceSource: Sendable {
    let make: @Sendable (DependencyContainer.Context) async throws -> Resource

    static func named(_ name: String, _ closings: Closings? = nil) -> ResourceSource {
        ResourceSource { Resource(name, $0, closings) }
    }

    static func failing(_ error: any Error) -> ResourceSource {
        ResourceSource { _ in throw error }
    }
}

/// A dependency similar to the default database: created by context, required in live, reported in tests.
enum ResourceKey: DependencyContainer.Key {
    static let name = "resource"
    static let belongsToOneTest = true

    static func defaultSource(in context: DependencyContainer.Context) -> DependencyContainer.Default<ResourceSource> {
        context == .live ? .none(cure: "prepare it") : .reported(.named("default"), cure: "give it")
    }

    static func makeValue(of source: ResourceSource, in scope: DependencyContainer) async throws -> Resource {
        try await source.make(scope.context)
    }

    static func close(_ value: Resource, of source: ResourceSource) { value.close() }
}

/// A second dependency, without special behavior.
enum OtherKey: DependencyContainer.Key {
    static let name = "other"

    static func defaultSource(in context: DependencyContainer.Context) -> DependencyContainer.Default<ResourceSource> {
        .value(.named("default other"))
    }

    static func makeValue(of source: ResourceSource, in scope: DependencyContainer) async throws -> Resource {
        try await source.make(scope.context)
    }

    static func close(_ value: Resource, of source: ResourceSource) { value.close() }
}

extension DependencyContainer.Values {
    var resource: ResourceSource? {
        get { self[ResourceKey.self] }
        set { self[ResourceKey.self] = newValue }
    }

    var other: ResourceSource? {
        get { self[OtherKey.self] }
        set { self[OtherKey.self] = newValue }
    }
}

struct Failure: Error, Equatable {}

extension DependencyContainer {
    /// Runs an operation in a new container, as if a program had just started in that context.
    static func inProcess<Result: Sendable>(
        _ context: DependencyContainer.Context, identity: @escaping @Sendable () -> TestIdentity = { .notRunByTests },
        operation: nonisolated(nonsending) () async throws -> Result
    ) async throws -> Result {
        let container = DependencyContainer(.process(identity), context: .success(context))
        return try await container.with(operation)
    }
}
