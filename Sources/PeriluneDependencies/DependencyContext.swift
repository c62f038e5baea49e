internal import IssueReporting
internal import Synchronization

/// What code runs for.
public enum DependencyContext: String, Sendable, CaseIterable {
    /// For its users: dependencies are what was prepared.
    case live
    /// For a test: each test has its own dependencies, and they are repeatable.
    case test
    /// To show what would happen: for real, on private copies.
    case preview

    /// The environment variable that names the context of a process, before anything else is asked. For programs that a
    /// test or a preview starts, which nothing else shows.
    public static let environmentVariable = "PERILUNE_CONTEXT"

    /// The context of the process: what the environment variable says; a test if a test runner runs it; else live.
    static let ofProcess = Result<DependencyContext, DependencyError> {
        () throws(DependencyError) in
        try detect(environment: .ofProcess, isTesting: isOwnProgram.load(ordering: .relaxed) ? hasTestVariable(.ofProcess) : isTesting)
    }

    private static let isOwnProgram = Atomic(false)

    /// Says that the process is a program of Perilune's, to be called before anything asks for the context. Its arguments are those of
    /// scripts, and do not say that a test runner runs it: only variables do.
    package static func setOwnProgram() { isOwnProgram.store(true, ordering: .relaxed) }

    /// Whether there is a variable that test runners give to what they start.
    static func hasTestVariable(_ environment: EnvironmentVariables) -> Bool {
        ["XCTestBundlePath", "XCTestBundleInjectPath", "XCTestConfigurationFilePath", "XCTestSessionIdentifier", "BAZEL_TEST"]
            .contains { environment[$0] != nil }
    }

    static func detect(environment: EnvironmentVariables, isTesting: @autoclosure () -> Bool) throws(DependencyError) -> DependencyContext {
        guard let name = environment[environmentVariable], !name.isEmpty else { return isTesting() ? .test : .live }
        if let context = DependencyContext(rawValue: name) { return context }
        let names = allCases.map(\.rawValue).joined(separator: ", ")
        throw DependencyError(
            .unknownContext, "the environment variable \(environmentVariable) is \"\(name)\"; set it to one of \(names)")
    }
}
