/// A token that shows whether a commit without a response has happened: a row for each client with the number of its last commit, written
/// in the same transaction.
final class CommitToken {
    private let client: String
    /// The number of the last attempted commit.
    private(set) var number: Int64 = 0

    static let table = "perilune_commit"
    static let definition =
        "CREATE TABLE IF NOT EXISTS \(table) (client TEXT NOT NULL PRIMARY KEY, number INTEGER NOT NULL, at INTEGER NOT NULL) WITHOUT ROWID"
    /// A client's first commit removes rows of clients that have committed nothing for this long.
    private static let keptSeconds = 30 * 24 * 3600

    init() {
        client = (0..<2).map { _ in String(UInt64.random(in: 0...UInt64.max), radix: 16) }.joined(separator: "-")
    }

    /// Returns the SQL that writes the number of the next commit.
    func next() -> String {
        number += 1
        let pruning = number == 1 ? "; DELETE FROM \(Self.table) WHERE at < strftime('%s') - \(Self.keptSeconds)" : ""
        return write(number) + pruning
    }

    /// Returns the SQL that writes the previous number after a commit that has not happened.
    func fence(before number: Int64) -> String { write(number - 1) }

    /// The SQL that marks the open transaction until its commit writes a number.
    var mark: String { write(-1) }

    /// An SQL condition that is true in a marked transaction and false once that has been rolled back.
    var isMarked: String { "(\(question)) < 0" }

    /// The SQL that reads the number of the last commit that has happened.
    var question: String { "SELECT number FROM \(Self.table) WHERE client = '\(client)'" }

    private func write(_ number: Int64) -> String {
        "INSERT OR REPLACE INTO \(Self.table) (client, number, at) VALUES ('\(client)', \(number), CAST(strftime('%s') AS INTEGER))"
    }
}
