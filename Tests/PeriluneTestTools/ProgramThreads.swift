import Foundation
public import Testing

/// Runs tests that wait for programs on separate threads.
///
/// A test that waits for another process blocks its thread. Swift concurrency has one thread per processor, so two slow programs would
/// block all other tests, and two programs that hang would block them until they are killed.
public struct ProgramThreadsTrait: SuiteTrait, TestTrait, TestScoping {
    @TaskLocal private static var isInScope = false

    public var isRecursive: Bool { true }

    /// Whether the current task belongs to a test with the trait.
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
    /// For each suite that starts programs.
    public static var startsPrograms: Self { Self() }
}

/// As many threads as the machine has processors, for tests that block.
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
