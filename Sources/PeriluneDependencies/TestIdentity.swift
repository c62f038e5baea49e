internal import IssueReporting

/// Which test runs on the current task.
package enum TestIdentity: Hashable, Sendable {
    /// None: no test runner runs the process.
    case notRunByTests
    /// A test of Swift Testing.
    case test(ID)
    /// A test of Swift Testing that runs for several arguments, which cannot be distinguished.
    case cases
    /// One of XCTest, or none: a detached task, a thread.
    case unknown

    /// What identifies a test.
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

    /// Whether the name of a test has parameters: `Module.Suite/name(_:)/File.swift:12:3`.
    private static func hasArguments(_ id: TestContext.Testing.Test.ID) -> Bool {
        let text = String(describing: id.rawValue)
        guard let end = text.lastIndex(of: "/") else { return text.hasSuffix(":)") }
        return text[..<end].hasSuffix(":)")
    }
}
