/// An error when a dependency is read or set.
public struct DependencyError: Error, Sendable {
    /// The kinds of errors. More may be added.
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

        /// A dependency without a default was read before it was prepared.
        public static let notPrepared = Code(value: .notPrepared)
        /// A dependency was prepared a second time.
        public static let alreadyPrepared = Code(value: .alreadyPrepared)
        /// A dependency was prepared after its default value had been used.
        public static let alreadyUsed = Code(value: .alreadyUsed)
        /// A dependency that belongs to one test was read in code for which the running test cannot be detected.
        public static let noTest = Code(value: .noTest)
        /// A dependency depends on itself.
        public static let cycle = Code(value: .cycle)
        /// The context of the process is invalid.
        public static let unknownContext = Code(value: .unknownContext)

        public var description: String { value.rawValue }
    }

    /// The kind of the error.
    public let code: Code
    /// A description of the error and how to fix it, for people.
    public let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}

extension DependencyError: CustomStringConvertible {
    public var description: String { message }
}
