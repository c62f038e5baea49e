/// A dependency is asked for, or given, where it cannot be.
public struct DependencyError: Error, Sendable {
    /// What kind of thing went wrong. More may be added.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value: String {
            case notPrepared = "not_prepared"
            case alreadyPrepared = "already_prepared"
            case alreadyUsed = "already_used"
            case noTest = "no_test"
            case cycle
            case unknownContext = "unknown_context"
        }

        private let value: Value

        /// A dependency without a default is used before it was prepared.
        public static let notPrepared = Code(value: .notPrepared)
        /// A dependency is prepared for the second time.
        public static let alreadyPrepared = Code(value: .alreadyPrepared)
        /// A dependency is prepared after its default has been used.
        public static let alreadyUsed = Code(value: .alreadyUsed)
        /// In a test run, a dependency that each test has for itself is used where the running test is unknown.
        public static let noTest = Code(value: .noTest)
        /// A dependency needs itself to be made.
        public static let cycle = Code(value: .cycle)
        /// The context of the process is invalid.
        public static let unknownContext = Code(value: .unknownContext)

        public var description: String { value.rawValue }
    }

    /// What kind of thing went wrong.
    public let code: Code
    /// What went wrong and what to do about it, for people.
    public let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}

extension DependencyError: CustomStringConvertible {
    public var description: String { message }
}
