public import Foundation

/// The error of a call that a ``ScriptPool`` cannot serve. A web service should respond with status 503.
public struct ScriptPoolError: Error, CustomStringConvertible, Sendable {
    /// Identifies the reason in a form that programs can check.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value: String {
            case closed
            case tooManyWaiting = "too many waiting"
            case waitedTooLong = "waited too long"
        }

        private let value: Value

        /// The pool is closed.
        public static let closed = Code(value: .closed)
        /// The maximum number of calls is already waiting for a host.
        public static let tooManyWaiting = Code(value: .tooManyWaiting)
        /// No host became free within the maximum waiting time.
        public static let waitedTooLong = Code(value: .waitedTooLong)

        public var description: String { value.rawValue }
    }

    /// Identifies the reason in a form that programs can check.
    public let code: Code
    /// A description of the reason, for people.
    public let message: String

    /// Creates an error, for example for tests of a program with a fake pool.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { message }
}

extension ScriptPoolError: LocalizedError {
    /// The message.
    public var errorDescription: String? { message }
}
