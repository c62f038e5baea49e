/// The key of a dependency: its name, its defaults, and how its value is made.
///
/// ```swift
/// enum MailerKey: DependencyKey {
///     static let name = "mailer"
///     static func defaultSource(in context: DependencyContext) -> DependencyDefault<Mailer> {
///         context == .live ? .value(.smtp) : .value(.discarding)
///     }
/// }
///
/// extension DependencyValues {
///     var mailer: Mailer? {
///         get { self[MailerKey.self] }
///         set { self[MailerKey.self] = newValue }
///     }
/// }
/// ```
public protocol DependencyKey: Sendable {
    /// The type that code receives.
    associatedtype Value: Sendable
    /// The type passed to ``Dependencies/prepare(_:)`` and to overrides: the value itself, or a description from which each scope and
    /// context makes its value.
    associatedtype Source: Sendable = Value

    /// The name in messages: the name of the property of ``DependencyValues``.
    static var name: String { get }

    /// Whether two tests must not share the value. Reading it where the running test cannot be detected is then an error.
    static var belongsToOneTest: Bool { get }

    /// Returns the source that applies if none was set.
    static func defaultSource(in context: DependencyContext) -> DependencyDefault<Source>

    /// Makes the value, once in each scope: in a test, once for that test.
    ///
    /// The task is cancelled when nothing waits for the value any more. After an error it may be called again.
    ///
    /// - Parameter scope: The container, which provides the context and other dependencies.
    /// - Throws: Any error. Callers that read the dependency receive it.
    static func makeValue(of source: Source, in scope: Dependencies) async throws -> Value

    /// Closes a value when its container is closed.
    ///
    /// - Throws: Any error. The caller that closes the container receives it.
    static func close(_ value: Value, of source: Source) throws
}

/// The default of a dependency in a context.
public enum DependencyDefault<Source: Sendable>: Sendable {
    /// This source.
    case value(Source)
    /// This source. Its use is reported as an issue, because it is probably a mistake.
    case reported(Source, cure: String)
    /// No default. Reading the dependency is an error.
    case none(cure: String)
}

extension DependencyKey {
    public static var belongsToOneTest: Bool { false }
    public static func close(_ value: Value, of source: Source) throws {}
}

extension DependencyKey where Source == Value {
    public static func makeValue(of source: Source, in scope: Dependencies) async throws -> Value { source }
}
