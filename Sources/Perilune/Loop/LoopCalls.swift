internal import PeriluneBindings
internal import PeriluneLua
internal import Synchronization

/// The calls of due functions in a host's loop. They run on its thread, and do not retain the host: otherwise a sleeping script would
/// retain it forever.
actor LoopCalls {
    private nonisolated let thread: LuaThread
    /// The thread of the host.
    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    private nonisolated let scripts: HostScripts
    private nonisolated let count = Atomic(0)

    /// - Parameter scripts: Belong to that thread.
    init(of scripts: HostScripts, on thread: LuaThread) {
        self.scripts = scripts
        self.thread = thread
    }

    /// Whether any have begun and not ended.
    nonisolated var areUnderWay: Bool { count.load(ordering: .acquiring) > 0 }

    /// Calls a source.
    ///
    /// - Parameter didEnd: Called on the thread afterwards.
    func start(_ source: LoopSource, didEnd: @escaping @Sendable () -> Void) -> Task<Void, Never> {
        count.add(1, ordering: .relaxed)
        return Task {
            await scripts.loop.call(source)
            count.subtract(1, ordering: .releasing)
            didEnd()
        }
    }

    /// Ends active calls when the host is gone. Their objects stay alive until then.
    nonisolated func end() {
        Task { await endAll() }
    }

    private func endAll() async {
        let loop = scripts.loop
        // Nothing is begun any more.
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

/// The objects that a host's scripts use.
///
/// `@unchecked Sendable`: used only on the host's thread, even when the host is gone.
final class HostScripts: @unchecked Sendable {
    let loop: ScriptLoop
    private let state: LuaState
    private let modules: ModuleRegistry
    private let library: LibraryLoader
    private let threadEnvironment: ThreadEnvironment?

    init(loop: ScriptLoop, state: LuaState, modules: ModuleRegistry, library: LibraryLoader, threadEnvironment: ThreadEnvironment?) {
        self.loop = loop
        self.state = state
        self.modules = modules
        self.library = library
        self.threadEnvironment = threadEnvironment
    }
}
