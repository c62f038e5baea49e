internal import Dispatch
internal import GRDB
internal import PeriluneBindings

// Closes hosts and databases before the process exits.

extension ScriptHost {
    /// Closes hosts and their databases before the process exits. The last connection to a database file checkpoints the write-ahead log
    /// into the file, and removes the log.
    ///
    /// Blocks the calling thread, which must not be the thread of one of the hosts.
    ///
    /// - Parameter limit: The maximum time to wait. After a timeout, databases may remain open as after a kill, but committed changes are
    ///   not lost.
    package static func closeWithDatabases(_ hosts: [ScriptHost], within limit: Duration = .seconds(2)) {
        guard !hosts.isEmpty else { return }
        let isDone = DispatchSemaphore(value: 0)
        Task.detached {
            for host in hosts { await host.closeWithDatabase() }
            isDone.signal()
        }
        _ = isDone.wait(timeout: .now() + limit / .seconds(1))
    }

    /// Closes the host, the databases opened by its scripts, and the default database unless the program has opened it.
    private nonisolated func closeWithDatabase() async {
        await close()
        guard let source = OpenedDatabases.source(of: database) else { return }
        if case .existing = source.kind { return }
        try? database.closeWithReaders()
    }
}
