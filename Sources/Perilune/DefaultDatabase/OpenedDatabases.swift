internal import GRDB
internal import Synchronization

/// The databases that containers have opened, with how they were asked to: their own configuration has more, such as the clock of a test.
enum OpenedDatabases {
    private struct Entry: Sendable {
        weak var writer: (any DatabaseWriter)?
        let source: DefaultDatabase
    }

    private static let entries = Mutex<[ObjectIdentifier: Entry]>([:])

    static func note(_ writer: any DatabaseWriter, from source: DefaultDatabase) {
        entries.withLock { entries in
            entries = entries.filter { $0.value.writer != nil }
            entries[ObjectIdentifier(writer)] = Entry(writer: writer, source: source)
        }
    }

    /// How a database was asked for; `nil` if the program has opened it.
    static func source(of writer: any DatabaseWriter) -> DefaultDatabase? {
        entries.withLock { entries in
            guard let entry = entries[ObjectIdentifier(writer)], entry.writer === writer else { return nil }
            return entry.source
        }
    }
}
