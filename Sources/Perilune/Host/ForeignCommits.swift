internal import GRDB

/// Notifies the observers of the program's own connections about commits of scripts in another process.
final class ForeignCommits: Sendable {
    private weak let writer: (any DatabaseWriter)?
    /// More tables in one message count as all tables.
    private static let mostTables = 1000

    init(_ writer: any DatabaseWriter) {
        self.writer = writer
    }

    /// Notifies the observers of the tables that a transaction has changed.
    func note(_ tables: [String]) {
        // A transaction without statements takes no lock, which could refuse the script's next write.
        writer?.asyncWriteWithoutTransaction { db in
            try? db.inTransaction(.deferred) {
                if tables.count <= Self.mostTables {
                    for table in tables { try? db.notifyChanges(in: Table(table)) }
                } else {
                    try db.notifyChanges(in: .fullDatabase)
                }
                return .commit
            }
        }
    }
}
