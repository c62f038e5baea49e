internal import IssueReporting
internal import Synchronization

/// The contexts in which code runs.
extension DependencyContainer {
    /// The purpose for which code runs.
    @nonexhaustive
    public enum Context: String, Sendable, CaseIterable {
        /// Normal use: the code runs with the dependencies that the program has prepared.
        case live
        /// Tests: each test has separate, repeatable dependencies.
        case test
        /// Previews: the code runs normally, but on private copies of the data.
        case preview

        /// The environment variable that sets the context of a process and overrides detection. Set it for programs that a test or a
        /// preview starts.
        package static let environmentVariable = "PERILUNE_CONTEXT"

        /// The context of the process: the environment variable if set, otherwise test under a test runner and live in any other process.
        static let ofProcess = Result<DependencyContainer.Context, DependencyError> {
            () throws(DependencyError) in
            try detect(
                environment: .ofProcess,
                isTesting: isOwnProgram.load(ordering: .relaxed) ? hasTestVariable(.ofProcess) : isTesting)
        }

        private static let isOwnProgram = Atomic(false)

        /// Marks the process as one of Perilune's command-line programs. Call it before the context is first read.
        ///
        /// The arguments of these programs belong to scripts, so only environment variables can identify a test runner.
        package static func setOwnProgram() { isOwnProgram.store(true, ordering: .relaxed) }

        /// Returns whether an environment variable of a test runner is set.
        static func hasTestVariable(_ environment: EnvironmentVariables) -> Bool {
            [
                "XCTestBundlePath", "XCTestBundleInjectPath", "XCTestConfigurationFilePath", "XCTestSessionIdentifier",
                "BAZEL_TEST",
            ]
            .contains { environment[$0] != nil }
        }

        static func detect(environment: EnvironmentVariables, isTesting: @autoclosure () -> Bool) throws(DependencyError)
            -> DependencyContainer.Context
        {
            guard let name = environment[environmentVariable], !name.isEmpty else { return isTesting() ? .test : .live }
            if let context = DependencyContainer.Context(rawValue: name) { return context }
            let names = allCases.map(\.rawValue).joined(separator: ", ")
            throw DependencyError(
                .unknownContext, "the environment variable \(environmentVariable) is \"\(name)\"; set it to one of \(names)")
        }
    }
}
