internal import IssueReporting

/// The test that runs on the current task.
package enum TestIdentity: Hashable, Sendable {
    /// The process is not run by a test runner.
    case notRunByTests
    /// A test of Swift Testing.
    case test(ID)
    /// A parameterized test of Swift Testing, whose cases cannot be distinguished.
    case cases
    /// An XCTest test, or code outside of any test: a detached task or a thread.
    case unknown

    /// The identifier of a test in Swift Testing.
    package struct ID: Hashable, Sendable {
        private let id: TestContext.Testing.Test.ID

        init(_ id: TestContext.Testing.Test.ID) {
            self.id = id
        }
    }

    static func detect() -> TestIdentity {
        switch TestContext.current {
        case nil: .notRunByTests
        case .swiftTesting(let testing?): hasArguments(testing.test.id) ? .cases : .test(ID(testing.test.id))
        default: .unknown
        }
    }

    /// Returns whether a test id, such as `Module.Suite/name(_:)/File.swift:12:3`, contains parameters.
    private static func hasArguments(_ id: TestContext.Testing.Test.ID) -> Bool {
        let text = String(describing: id.rawValue)
        guard let end = text.lastIndex(of: "/") else { return text.hasSuffix(":)") }
        return text[..<end].hasSuffix(":)")
    }
}
