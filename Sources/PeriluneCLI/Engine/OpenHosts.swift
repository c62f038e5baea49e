internal import Foundation
internal import GRDB
internal import Perilune
internal import Synchronization

/// The open hosts and files of a command, which are closed before the process ends, unless it crashes.
enum OpenHosts {
    private struct State: Sendable {
        var hosts: [ScriptHost] = []
        var readPaths: Set<String> = []
    }

    private static let state = Mutex(State())

    static func add(_ host: ScriptHost) { state.withLock { $0.hosts.append(host) } }

    /// Records a file that is opened only for reading.
    static func addReading(_ path: String) { state.withLock { _ = $0.readPaths.insert(path) } }

    /// Closes the hosts and their databases. Can be called from any thread; later calls do nothing.
    static func close() {
        let open = state.withLock { state in
            defer { state = State() }
            return state
        }
        ScriptHost.closeWithDatabases(open.hosts)
        for path in open.readPaths { removeEmptyLog(of: path) }
    }

    /// Removes the empty write-ahead log that a read-only connection creates next to a database but cannot remove.
    private static func removeEmptyLog(of path: String) {
        let path = URL(filePath: path).resolvingSymlinksInPath().path
        let size = (try? FileManager.default.attributesOfItem(atPath: path + "-wal"))?[.size] as? Int
        guard size == 0, access(path, W_OK) == 0, let queue = try? DatabaseQueue(path: path) else { return }
        _ = try? queue.read { db in try Int.fetchOne(db, sql: "PRAGMA user_version") }
        try? queue.close()
    }
}
