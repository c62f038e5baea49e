internal import PeriluneBindings
internal import PeriluneLua
internal import Synchronization

/// The active callbacks of a host's event loop. They run on the host's thread, but do not retain the host, because a sleeping script would
/// retain it forever.
actor LoopCalls {
    private nonisolated let thread: LuaThread
    /// The executor of the host's thread.
    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    private nonisolated let scripts: HostScripts
    private nonisolated let count = Atomic(0)
    /// The sources whose tasks have not been created yet, in order.
    private var waiting: [(source: LoopSource, didEnd: @Sendable () -> Void)] = []

    /// - Parameter scripts: The objects that callbacks use on the thread.
    init(of scripts: HostScripts, on thread: LuaThread) {
        self.scripts = scripts
        self.thread = thread
    }

    /// Whether any callback is active.
    nonisolated var areUnderWay: Bool { count.load(ordering: .acquiring) > 0 }

    /// Starts a task that calls the callback of a source.
    ///
    /// - Parameter didEnd: A closure that is called on the thread after the callback.
    /// - Returns: The task; `nil` if the task is created later, with the task-local values of the run that added the source.
    func start(_ source: LoopSource, didEnd: @escaping @Sendable () -> Void) -> Task<Void, Never>? {
        count.add(1, ordering: .relaxed)
        guard source.carrier != nil || !waiting.isEmpty else { return Task { await call(source, didEnd) } }
        waiting.append((source, didEnd))
        if waiting.count == 1 { startNext() }
        return nil
    }

    /// Creates the task of the first waiting source. Tasks are created one after another, so callbacks start in the order of their sources.
    private func startNext() {
        guard let (source, _) = waiting.first else { return }
        guard let carrier = source.carrier else {
            // Starts outside of any task, because the new task would inherit the current task's values.
            return thread.enqueue { self.assumeIsolated { $0.startFirst() } }
        }
        carrier.perform {
            Task { await self.startFirst() }
        }
    }

    /// Calls the first waiting source in a task that inherits the task-local values of the current task.
    private func startFirst() {
        let (source, didEnd) = waiting.removeFirst()
        source.task = Task { await call(source, didEnd) }
        startNext()
    }

    private func call(_ source: LoopSource, _ didEnd: @Sendable () -> Void) async {
        await scripts.loop.call(source)
        count.subtract(1, ordering: .releasing)
        didEnd()
    }

    /// Ends active callbacks after the host is deinitialized. Keeps their objects alive until they have ended.
    nonisolated func end() {
        Task { await endAll() }
    }

    private func endAll() async {
        let loop = scripts.loop
        // From here on, the loop starts no callbacks.
        loop.queue.setWake { [thread] in
            thread.enqueue { self.assumeIsolated { $0.look() } }
        }
        loop.endAll()
        while areUnderWay { _ = await loop.change() }
        loop.queue.setWake {}
    }

    private func look() {
        _ = scripts.loop.queue.take()
        scripts.loop.announceChange()
    }
}

/// The objects that a host's scripts use, retained by active callbacks.
///
/// `@unchecked Sendable` is safe, because only the host's thread uses the objects, even after the host is released.
final class HostScripts: @unchecked Sendable {
    let loop: ScriptLoop
    private let state: LuaState
    private let modules: ModuleRegistry
    private let library: LibraryLoader
    private let threadEnvironment: ThreadEnvironment?

    init(
        loop: ScriptLoop, state: LuaState, modules: ModuleRegistry, library: LibraryLoader, threadEnvironment: ThreadEnvironment?
    ) {
        self.loop = loop
        self.state = state
        self.modules = modules
        self.library = library
        self.threadEnvironment = threadEnvironment
    }
}
