internal import Dispatch
internal import Synchronization

/// A watcher that reports writes to database files by any process, based on inotify with one file descriptor for all files.
final class DatabaseFileWatcher: Sendable {
    private struct Folder {
        /// The numbers of the watched databases, by the names of the database files and their journals.
        var numbers: [String: Set<Int>] = [:]
    }

    private struct State {
        var folders: [CInt: Folder] = [:]
        var watches: [String: CInt] = [:]
        /// The numbers of the files whose next write is reported.
        var armed: Set<Int> = []
    }

    /// The inotify instance. Safe to share: only the queue of the dispatch source reads events, and the system allows other threads to add
    /// and remove watches at any time.
    private struct Events: @unchecked Sendable {
        let inotify: Inotify
    }

    private let state = Mutex(State())
    private let events: Events
    /// `nonisolated(unsafe)` is safe, because Dispatch objects are thread-safe.
    private nonisolated(unsafe) let source: any DispatchSourceRead
    private let report: @Sendable ([Int]) -> Void

    /// Creates a watcher.
    ///
    /// - Parameter report: A closure that receives the numbers of armed files that were written. Called on any thread.
    /// - Throws: ``FileWatchError`` if the system provides no further watchers.
    init(_ report: @escaping @Sendable ([Int]) -> Void) throws {
        events = Events(inotify: try Inotify(of: .writes))
        self.report = report
        source = DispatchSource.makeReadSource(
            fileDescriptor: events.inotify.descriptor, queue: DispatchQueue(label: "perilune.database-files"))
        source.setEventHandler { [weak self] in self?.take() }
        // Keeps the file descriptor open until the source is cancelled.
        source.setCancelHandler { [events] in withExtendedLifetime(events) {} }
        source.activate()
    }

    deinit { source.cancel() }

    /// Watches a file.
    ///
    /// - Parameter path: The path of the file without symbolic links.
    /// - Returns: Whether its folder can be watched.
    func add(_ number: Int, _ path: String) -> Bool {
        let parts = PathParts(path)
        return state.withLock { state in
            guard let watch = state.watches[parts.folder] ?? events.inotify.add(parts.folder) else { return false }
            state.watches[parts.folder] = watch
            var folder = state.folders[watch] ?? Folder()
            for suffix in Self.suffixes { folder.numbers[parts.name + suffix, default: []].insert(number) }
            state.folders[watch] = folder
            return true
        }
    }

    func remove(_ number: Int, _ path: String) {
        let parts = PathParts(path)
        state.withLock { state in
            state.armed.remove(number)
            guard let watch = state.watches[parts.folder], var folder = state.folders[watch] else { return }
            for suffix in Self.suffixes {
                folder.numbers[parts.name + suffix]?.remove(number)
                if folder.numbers[parts.name + suffix]?.isEmpty == true { folder.numbers[parts.name + suffix] = nil }
            }
            state.folders[watch] = folder
            guard folder.numbers.isEmpty else { return }
            (state.folders[watch], state.watches[parts.folder]) = (nil, nil)
            events.inotify.remove(watch)
        }
    }

    /// Arms the watcher to report the next write to a file, once.
    func arm(_ number: Int) {
        state.withLock { _ = $0.armed.insert(number) }
    }

    private static let suffixes = ["", "-wal", "-journal"]

    private func take() {
        let events = events.inotify.read()
        let numbers = state.withLock { state in
            var written: Set<Int> = []
            for event in events {
                if event.hasOverflowed { written.formUnion(state.armed) }
                if let numbers = state.folders[event.watch]?.numbers[event.name] { written.formUnion(numbers) }
            }
            written.formIntersection(state.armed)
            state.armed.subtract(written)
            return written
        }
        if !numbers.isEmpty { report(numbers.sorted()) }
    }
}
