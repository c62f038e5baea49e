import Foundation
public import Testing

/// Runs tests that wait for programs on threads of their own.
///
/// A test that waits for another process blocks its thread. Swift's concurrency has one thread for each processor: without this, two
/// programs that are slow would hold up all other tests, and two that hang would hold them up until they are killed.
public struct ProgramThreadsTrait: SuiteTrait, TestTrait, TestScoping {
    @TaskLocal private static var isInScope = false

    public var isRecursive: Bool { true }

    /// Whether this is a task of a test with the trait.
    public static var isCurrent: Bool { isInScope }

    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await Self.$isInScope.withValue(true) {
            try await withTaskExecutorPreference(ProgramThreads.shared) { try await function() }
        }
    }
}

extension Trait where Self == ProgramThreadsTrait {
    /// To be given to each suite that starts programs.
    public static var startsPrograms: Self { Self() }
}

/// As many threads as there are processors, for tests that block.
private final class ProgramThreads: TaskExecutor {
    static let shared = ProgramThreads()

    private let threads = OperationQueue()

    private init() {
        threads.maxConcurrentOperationCount = ProcessInfo.processInfo.activeProcessorCount
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        threads.addOperation { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}
