package import GRDB

// Closing databases so that nothing stays next to their file.

extension DatabaseWriter {
    /// Closes the database, and the readers of a pool before its writer: the last closed connection empties and removes the
    /// write-ahead log, and readers cannot do that.
    package func closeWithReaders() throws {
        closeReaders()
        try close()
    }

    /// Closes the readers of a pool that are not in use.
    func closeReaders() { (self as? DatabasePool)?.invalidateReadOnlyConnections() }
}
