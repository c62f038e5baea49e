/// Keys of dependencies, and their defaults.
extension DependencyContainer {
    /// The key of a dependency, which defines its default and how to create its value.
    ///
    /// ```swift
    /// enum MailerKey: DependencyContainer.Key {
    ///     static func defaultSource(
    ///         in context: Context
    ///     ) -> DependencyContainer.Default<Mailer> {
    ///         context == .live ? .value(.smtp) : .value(.discarding)
    ///     }
    /// }
    ///
    /// extension DependencyContainer.Values {
    ///     var mailer: Mailer? {
    ///         get { self[MailerKey.self] }
    ///         set { self[MailerKey.self] = newValue }
    ///     }
    /// }
    ///
    /// extension DependencyContainer {
    ///     static var mailer: Mailer {
    ///         get async throws { try await value(for: MailerKey.self) }
    ///     }
    /// }
    /// ```
    public protocol Key: Sendable {
        /// The type that code receives.
        associatedtype Value: Sendable
        /// The type passed to ``DependencyContainer/prepare(_:)`` and to overrides: the value itself, or a description from which each
        /// scope creates its value.
        associatedtype Source: Sendable = Value
        /// The purpose for which code runs.
        typealias Context = DependencyContainer.Context

        /// The name in messages. The default is the type's name without the ending `Key`: `mailer` for `MailerKey`.
        static var name: String { get }

        /// Whether tests must not share the value. If so, reading it is an error when the running test cannot be detected.
        static var belongsToOneTest: Bool { get }

        /// Returns the source to use if the program sets none.
        static func defaultSource(in context: DependencyContainer.Context) -> DependencyContainer.Default<Source>

        /// Creates the value, once in each scope: in a test, once for that test.
        ///
        /// The task is cancelled when no task waits for the value any longer. After an error, the next read calls this function again.
        ///
        /// - Parameter scope: The container, which provides the context and other dependencies.
        /// - Throws: Any error. Callers that read the dependency receive it.
        static func makeValue(of source: Source, in scope: DependencyContainer) async throws -> Value

        /// Closes a value when its container is closed.
        ///
        /// - Throws: Any error. The caller that closes the container receives it.
        static func close(_ value: Value, of source: Source) throws
    }

    /// The default of a dependency in a context.
    public enum Default<Source: Sendable>: Sendable {
        /// A source to use silently.
        case value(Source)
        /// A source to use, while reporting an issue: relying on this default is probably a mistake.
        case reported(Source, cure: String)
        /// No default: reading the dependency is an error.
        case none(cure: String)
    }
}

extension DependencyContainer.Key {
    public static var name: String {
        let type = String(describing: Self.self)
        let name = type.hasSuffix("Key") && type != "Key" ? String(type.dropLast(3)) : type
        return name.uppercased() == name ? name.lowercased() : name.prefix(1).lowercased() + name.dropFirst()
    }

    public static var belongsToOneTest: Bool { false }
    public static func close(_ value: Value, of source: Source) throws {}
}

extension DependencyContainer.Key where Source == Value {
    public static func makeValue(of source: Source, in scope: DependencyContainer) async throws -> Value { source }
}
