internal import GRDB
internal import Synchronization

/// A registry of the sources of databases that Perilune has opened. The original configuration is only in the source, because the
/// configuration of the open database contains additions, such as the clock of a test.
enum OpenedDatabases {
    private struct Entry: Sendable {
        weak var writer: (any DatabaseWriter)?
        let source: DatabaseSource
    }

    private static let entries = Mutex<[ObjectIdentifier: Entry]>([:])

    static func note(_ writer: any DatabaseWriter, from source: DatabaseSource) {
        entries.withLock { entries in
            entries = entries.filter { $0.value.writer != nil }
            entries[ObjectIdentifier(writer)] = Entry(writer: writer, source: source)
        }
    }

    /// Returns the source of an open database; `nil` if Perilune has not opened the database.
    static func source(of writer: any DatabaseWriter) -> DatabaseSource? {
        entries.withLock { entries in
            guard let entry = entries[ObjectIdentifier(writer)], entry.writer === writer else { return nil }
            return entry.source
        }
    }
}
