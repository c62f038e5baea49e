package import GRDB

// Closing databases without leaving a write-ahead log next to the file.

extension DatabaseWriter {
    /// Closes the readers of a pool before its writer. The last connection to close must checkpoint and remove the write-ahead log,
    /// which a read-only connection cannot do.
    package func closeWithReaders() throws {
        closeReaders()
        try close()
    }

    /// Closes the idle readers of a pool.
    func closeReaders() { (self as? DatabasePool)?.invalidateReadOnlyConnections() }
}
