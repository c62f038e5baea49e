internal import GRDB
internal import Synchronization

/// The sources of the databases that Perilune has opened. The configuration of an open database has more, such as the clock of a test.
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

    /// How a database was asked for; `nil` if the program has opened it.
    static func source(of writer: any DatabaseWriter) -> DatabaseSource? {
        entries.withLock { entries in
            guard let entry = entries[ObjectIdentifier(writer)], entry.writer === writer else { return nil }
            return entry.source
        }
    }
}
