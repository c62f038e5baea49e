internal import IssueReporting
internal import Synchronization

/// The contexts in which code runs.
extension DependencyContainer {
    /// The purpose for which code runs.
    @nonexhaustive
    public enum Context: String, Sendable, CaseIterable {
        /// For users: dependencies that the program has prepared.
        case live
        /// For tests: each test has its own, repeatable dependencies.
        case test
        /// For previews: code runs for real, on private copies.
        case preview

        /// The environment variable that sets the context of a process and overrides detection. Use it for programs that a test or a
        /// preview starts.
        public static let environmentVariable = "PERILUNE_CONTEXT"

        /// The context of the process: from the environment variable, else test under a test runner, else live.
        static let ofProcess = Result<DependencyContainer.Context, DependencyError> {
            () throws(DependencyError) in
            try detect(
                environment: .ofProcess,
                isTesting: isOwnProgram.load(ordering: .relaxed) ? hasTestVariable(.ofProcess) : isTesting)
        }

        private static let isOwnProgram = Atomic(false)

        /// Marks the process as one of Perilune's own programs. Call it before the context is first read.
        ///
        /// The arguments of these programs belong to scripts, so only environment variables may indicate a test runner.
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
