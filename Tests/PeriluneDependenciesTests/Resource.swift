import PeriluneDependencies
import Synchronization

/// A resource that a container creates and closes.
final class Resource: Sendable {
    let name: String
    let context: DependencyContext
    private let closings: Closings?

    init(_ name: String, _ context: DependencyContext, _ closings: Closings? = nil) {
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
    let make: @Sendable (DependencyContext) async throws -> Resource

    static func named(_ name: String, _ closings: Closings? = nil) -> ResourceSource {
        ResourceSource { Resource(name, $0, closings) }
    }

    static func failing(_ error: any Error) -> ResourceSource {
        ResourceSource { _ in throw error }
    }
}

/// A dependency similar to the default database: created by context, required in live, reported in tests.
enum ResourceKey: DependencyKey {
    static let name = "resource"
    static let belongsToOneTest = true

    static func defaultSource(in context: DependencyContext) -> DependencyDefault<ResourceSource> {
        context == .live ? .none(cure: "prepare it") : .reported(.named("default"), cure: "give it")
    }

    static func makeValue(of source: ResourceSource, in scope: Dependencies) async throws -> Resource {
        try await source.make(scope.context)
    }

    static func close(_ value: Resource, of source: ResourceSource) { value.close() }
}

/// A second dependency, without special behavior.
enum OtherKey: DependencyKey {
    static let name = "other"

    static func defaultSource(in context: DependencyContext) -> DependencyDefault<ResourceSource> {
        .value(.named("default other"))
    }

    static func makeValue(of source: ResourceSource, in scope: Dependencies) async throws -> Resource {
        try await source.make(scope.context)
    }

    static func close(_ value: Resource, of source: ResourceSource) { value.close() }
}

extension DependencyValues {
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

extension Dependencies {
    /// Runs an operation in a new container, as if a program had just started in that context.
    static func inProcess<Result: Sendable>(
        _ context: DependencyContext, identity: @escaping @Sendable () -> TestIdentity = { .notRunByTests },
        operation: nonisolated(nonsending) () async throws -> Result
    ) async throws -> Result {
        let container = Dependencies(.process(identity), context: .success(context))
        return try await container.run(operation: operation)
    }
}
