/// Names a dependency, and says how it comes about.
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
    /// What code gets.
    associatedtype Value: Sendable
    /// What is given to ``Dependencies/prepare(_:)`` and for overrides: the value itself, or what it is made from in each
    /// scope and context.
    associatedtype Source: Sendable = Value

    /// What messages call it, as the property of ``DependencyValues`` is called.
    static var name: String { get }

    /// Whether it must not be shared by two tests, so that asking for it where the running test is unknown is an error.
    static var belongsToOneTest: Bool { get }

    /// What is used where nothing was given.
    static func defaultSource(in context: DependencyContext) -> DependencyDefault<Source>

    /// Makes the value, once in each scope: in a test, for that test. It is cancelled when nothing waits for the value any more, and
    /// may be called again after it has thrown.
    ///
    /// - Parameter scope: Where it is made. Provides the context and other dependencies.
    /// - Throws: Why the value cannot be made. The caller that asks for it gets the error.
    static func makeValue(of source: Source, in scope: Dependencies) async throws -> Value

    /// Closes a value, which was made from a source, when its container is closed.
    ///
    /// - Throws: Why it cannot be closed.
    static func close(_ value: Value, of source: Source) throws
}

/// What is used where nothing was given.
public enum DependencyDefault<Source: Sendable>: Sendable {
    /// This.
    case value(Source)
    /// This, and an issue is reported, because it is hardly what was meant.
    case reported(Source, cure: String)
    /// Nothing: it is an error.
    case none(cure: String)
}

extension DependencyKey {
    public static var belongsToOneTest: Bool { false }
    public static func close(_ value: Value, of source: Source) throws {}
}

extension DependencyKey where Source == Value {
    public static func makeValue(of source: Source, in scope: Dependencies) async throws -> Value { source }
}
