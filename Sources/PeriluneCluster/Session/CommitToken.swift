/// What tells after a commit without an answer whether it has happened: a row for each client, with the number of its last commit, which is
/// written in the same transaction.
final class CommitToken {
    private let client: String
    /// Of the last commit that was tried.
    private(set) var number: Int64 = 0

    static let table = "perilune_commit"
    static let definition =
        "CREATE TABLE IF NOT EXISTS \(table) (client TEXT NOT NULL PRIMARY KEY, number INTEGER NOT NULL, at INTEGER NOT NULL) WITHOUT ROWID"
    /// Rows of clients that have committed nothing for so long are removed, by a client's first commit.
    private static let keptSeconds = 30 * 24 * 3600

    init() {
        client = (0..<2).map { _ in String(UInt64.random(in: 0...UInt64.max), radix: 16) }.joined(separator: "-")
    }

    /// What writes the number of another commit.
    func next() -> String {
        number += 1
        let pruning = number == 1 ? "; DELETE FROM \(Self.table) WHERE at < strftime('%s') - \(Self.keptSeconds)" : ""
        return write(number) + pruning
    }

    /// What writes, after a commit that has not happened, the number of the one before.
    func fence(before number: Int64) -> String { write(number - 1) }

    /// What marks the transaction that is open, until its commit writes a number.
    var mark: String { write(-1) }

    /// True in a transaction that is marked, and false once that was rolled back.
    var isMarked: String { "(\(question)) < 0" }

    /// What reads the number of the last commit that has happened.
    var question: String { "SELECT number FROM \(Self.table) WHERE client = '\(client)'" }

    private func write(_ number: Int64) -> String {
        "INSERT OR REPLACE INTO \(Self.table) (client, number, at) VALUES ('\(client)', \(number), CAST(strftime('%s') AS INTEGER))"
    }
}
