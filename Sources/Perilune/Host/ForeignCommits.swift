internal import GRDB

/// Notifies the observers of the program's own connections about commits of scripts in another process.
final class ForeignCommits: Sendable {
    private weak let writer: (any DatabaseWriter)?
    /// More tables in one message are treated as all tables.
    private static let mostTables = 1000

    init(_ writer: any DatabaseWriter) {
        self.writer = writer
    }

    /// Notifies the observers of the tables that a transaction has changed.
    func note(_ tables: [String]) {
        writer?.asyncWrite({ db in
            guard tables.count <= Self.mostTables else { return try db.notifyChanges(in: .fullDatabase) }
            for table in tables { try? db.notifyChanges(in: Table(table)) }
        }, completion: { _, _ in })
    }
}
