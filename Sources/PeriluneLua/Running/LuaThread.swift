#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif
import Synchronization

/// A serial executor with a dedicated thread and a large stack.
///
/// Scripts run on a dedicated thread for two reasons: Lua's parser, pattern matching and error messages recurse in C, and blocking
/// SQLite calls must not occupy the shared threads of Swift concurrency. Use the thread as the `unownedExecutor` of an actor, or
/// run closures with ``run(_:)``.
///
/// `@unchecked Sendable`: a mutex guards all mutable state.
public final class LuaThread: SerialExecutor, @unchecked Sendable {
    /// The default stack size: 64 MiB, of which only the used part takes memory.
    public static let defaultStackSizeInBytes = 64 << 20

    private let shared = Shared()
    private let thread: pthread_t

    /// The thread's queue, separate from the executor so that the thread does not retain the executor.
    private final class Shared: @unchecked Sendable {
        var mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
        var condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
        var jobs: [Work] = []
        /// Closures that run when the thread has no other job, or after `patience` further batches of jobs.
        var idleJobs: [Work] = []
        var isEnding = false

        /// The number of elements in `jobs`, which the thread polls without the mutex.
        private let jobCount = Atomic(0)
        /// Whether the last wait was short. If so, the next wait begins with polling.
        private var comesSoon = false
        private var batchesUntilIdleJobs = 0

        /// The maximum duration of a short wait, and of polling. Waking a thread takes 5 to 20 µs.
        private static let soon = Duration.microseconds(200)
        private static let patience = 64

        init() {
            pthread_mutex_init(mutex, nil)
            pthread_cond_init(condition, nil)
        }

        deinit {
            pthread_mutex_destroy(mutex)
            pthread_cond_destroy(condition)
            mutex.deallocate()
            condition.deallocate()
        }

        func add(_ job: Work) {
            pthread_mutex_lock(mutex)
            jobs.append(job)
            jobCount.store(jobs.count, ordering: .relaxed)
            pthread_mutex_unlock(mutex)
            pthread_cond_signal(condition)
        }

        func addIdleJob(_ job: Work) {
            pthread_mutex_lock(mutex)
            if idleJobs.isEmpty { batchesUntilIdleJobs = Self.patience }
            idleJobs.append(job)
            pthread_mutex_unlock(mutex)
            pthread_cond_signal(condition)
        }

        func end() {
            pthread_mutex_lock(mutex)
            isEnding = true
            pthread_mutex_unlock(mutex)
            pthread_cond_signal(condition)
        }

        /// Waits for work and returns all queued items, or `nil` if the thread must end.
        func next() -> [Work]? {
            pthread_mutex_lock(mutex)
            defer { pthread_mutex_unlock(mutex) }
            if jobs.isEmpty, idleJobs.isEmpty {
                if isEnding { return nil }
                if comesSoon { poll() }
                let start = ContinuousClock.now
                while jobs.isEmpty, idleJobs.isEmpty {
                    if isEnding { return nil }
                    pthread_cond_wait(condition, mutex)
                }
                comesSoon = .now - start < Self.soon
            }
            jobCount.store(0, ordering: .relaxed)
            defer { jobs = [] }
            return idleJobs.isEmpty ? jobs : jobs + dueIdleJobs()
        }

        /// Waits briefly for a job without sleeping. Releases the mutex in the meantime.
        private func poll() {
            pthread_mutex_unlock(mutex)
            let end = ContinuousClock.now + Self.soon
            while jobCount.load(ordering: .relaxed) == 0, .now < end { sched_yield() }
            pthread_mutex_lock(mutex)
        }

        /// Removes and returns the idle jobs if the thread is idle or has been busy for too long; otherwise returns an empty list.
        private func dueIdleJobs() -> [Work] {
            batchesUntilIdleJobs -= 1
            guard jobs.isEmpty || batchesUntilIdleJobs <= 0 else { return [] }
            defer { idleJobs = [] }
            return idleJobs
        }
    }

    private enum Work {
        case job(UnownedJob, UnownedSerialExecutor)
        case preferring(UnownedJob, UnownedTaskExecutor)
        case closure(Closure)
        case notice(@Sendable () -> Void)
    }

    /// A closure and the thread that waits for it.
    private final class Closure {
        private var body: (() -> Void)?
        private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

        init(_ body: @escaping () -> Void) {
            self.body = body
            sem_init(semaphore, 0, 0)
        }

        deinit {
            sem_destroy(semaphore)
            semaphore.deallocate()
        }

        func run() {
            call()
            // Release the closure before the waiting thread continues, because it may capture values that belong to that thread.
            body = nil
            sem_post(semaphore)
        }

        /// Calls the closure. Not inlined, so that the compiler does not extend the lifetime of captured values.
        @inline(never) private func call() { body?() }

        func wait() {
            while sem_wait(semaphore) != 0 {}
        }
    }

    /// Starts a thread.
    public init(stackSizeInBytes: Int = LuaThread.defaultStackSizeInBytes) {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        pthread_attr_setstacksize(&attributes, max(stackSizeInBytes, 1 << 20))
        pthread_attr_setdetachstate(&attributes, CInt(PTHREAD_CREATE_DETACHED))
        var thread = pthread_t()
        let argument = Unmanaged.passRetained(shared).toOpaque()
        let status = pthread_create(
            &thread, &attributes,
            { argument in
                let shared = Unmanaged<Shared>.fromOpaque(argument!).takeRetainedValue()
                while let work = shared.next() {
                    for item in work {
                        switch item {
                        case .job(let job, let executor): job.runSynchronously(on: executor)
                        case .preferring(let job, let executor): job.runSynchronously(on: executor)
                        case .closure(let closure): closure.run()
                        case .notice(let body): body()
                        }
                    }
                }
                return nil
            }, argument)
        pthread_attr_destroy(&attributes)
        precondition(status == 0, "cannot start a thread: \(status)")
        self.thread = thread
    }

    deinit {
        shared.end()
    }

    /// Runs a job on the thread after all earlier jobs.
    public func enqueue(_ job: consuming ExecutorJob) {
        shared.add(.job(UnownedJob(job), asUnownedSerialExecutor()))
    }

    /// Schedules a closure on the thread without waiting for the closure. It does not use the shared threads of Swift concurrency.
    ///
    /// The closure is isolated to the actors of this executor, so `assumeIsolated` succeeds.
    public func enqueue(_ body: @escaping @Sendable () -> Void) {
        shared.add(.notice(body))
    }

    /// Schedules a closure to run when the thread is idle. If the thread stays busy, the closure runs after a number of job batches.
    package func enqueueWhenIdle(_ body: @escaping @Sendable () -> Void) {
        shared.addIdleJob(.notice(body))
    }

    /// A task executor for tasks that must not depend on the shared threads of Swift concurrency. After each wait, a task is
    /// briefly not isolated to an actor; with this executor, it resumes on this thread even then.
    package var preference: some TaskExecutor { Preference(shared: shared) }

    private final class Preference: TaskExecutor {
        private let shared: Shared

        init(shared: Shared) {
            self.shared = shared
        }

        func enqueue(_ job: consuming ExecutorJob) {
            shared.add(.preferring(UnownedJob(job), asUnownedTaskExecutor()))
        }
    }

    /// Traps if the caller is not on the thread.
    public func checkIsolated() {
        precondition(isCurrent, "not on the thread of this executor")
    }

    /// Whether the caller is on this thread.
    var isCurrent: Bool { pthread_equal(thread, pthread_self()) != 0 }

    /// Runs a closure on the thread and waits for it. If the caller is already on the thread, runs the closure directly.
    ///
    /// - Throws: Errors of the closure.
    public func run<Result>(_ body: () throws -> Result) throws -> Result {
        if isCurrent { return try body() }
        // The thread writes the result before it signals the semaphore, and this function reads it afterwards, so accesses never
        // overlap.
        nonisolated(unsafe) var result: Swift.Result<Result, any Error>?
        withoutActuallyEscaping(body) { body in
            let closure = Closure { result = Swift.Result { try body() } }
            shared.add(.closure(closure))
            closure.wait()
        }
        return try result!.get()
    }
}
