internal import Foundation
internal import PeriluneLua
internal import Synchronization

/// A loader that collects the scenarios that files define.
struct ScenarioCollector {
    let chunks: ChunkCache
    let options: ScenarioOptions

    /// The definitions of a file, or the reason why the file does not load.
    struct Collected: Sendable {
        let place: ScenarioLocation
        /// The file; `nil` if it cannot be read.
        var file: ScenarioFile?
        var scenarios: [Scenario] = []
        var templates: [ScenarioTemplate] = []
        var failure: ScenarioFailure?
    }

    /// Loads files in parallel, and returns the results in the order of the files.
    func collect(_ files: [ScenarioLocation]) -> [Collected] {
        let next = Mutex(0)
        let collected = Mutex([Collected?](repeating: nil, count: files.count))
        let work: @Sendable () -> Void = {
            while true {
                let index = next.withLock { next in
                    next += 1
                    return next - 1
                }
                guard index < files.count else { return }
                let result = collect(files[index])
                collected.withLock { $0[index] = result }
            }
        }
        let finished = DispatchGroup()
        for _ in 1..<max(1, min(options.workers, files.count)) {
            finished.enter()
            let thread = Thread {
                work()
                finished.leave()
            }
            // Lua's parser is recursive and needs a large stack.
            thread.stackSize = LuaThread.defaultStackSizeInBytes
            thread.start()
        }
        work()
        finished.wait()
        return collected.withLock { $0.compactMap { $0 } }
    }

    /// Loads a file in a separate Lua state, within limits. Only its main chunk runs.
    func collect(_ place: ScenarioLocation) -> Collected {
        var collected = Collected(place: place)
        do {
            let file = try ScenarioFile(place)
            collected.file = file
            let stage = try ScenarioStage(.memory, image: nil, seed: 0, extensions: options.loadedExtensions)
            defer { stage.close() }
            let limits = LuaLimits(memoryInBytes: options.memoryInBytes, time: min(options.timeout, .seconds(10)))
            let state = try ScenarioState(on: stage, limits: limits, chunks: chunks, modules: options.modules)
            defer { state.state.close() }
            try state.load(file)
            (collected.scenarios, collected.templates) = try state.definitions()
        } catch {
            var failure = ScenarioFailure(error, file: place.path)
            collected.file?.restoreName(in: &failure)
            collected.failure = failure
            if (error as? LuaError)?.code.isLimit == true {
                collected.failure?.message += "; the main chunk may contain only definitions"
            }
        }
        return collected
    }
}

extension ScenarioFailure {
    /// Creates a failure from an error.
    ///
    /// - Parameter file: The file of the failure if the error does not name one.
    init(_ error: any Error, file: String? = nil) {
        guard let error = error as? LuaError else {
            self.init("\(error)", kind: (error as? any LuaErrorDescribing)?.luaKind ?? "host", file: file)
            if let error = error as? any LuaErrorDescribing { message = error.luaMessage }
            return
        }
        self.init(error.message, kind: error.kind?.rawValue ?? error.code.description, file: error.file ?? file, line: error.line)
        traceback = error.traceback
    }
}
