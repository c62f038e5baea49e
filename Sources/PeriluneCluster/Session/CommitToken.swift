/// A token that shows whether a commit without a response has taken effect. A table has one row per client with the number of the
/// client's last commit, which is written in the transaction that commits.
final class CommitToken {
    private let client: String
    /// The number of the last attempted commit.
    private(set) var number: Int64 = 0

    static let table = "perilune_commit"
    static let definition =
        "CREATE TABLE IF NOT EXISTS \(table) (client TEXT NOT NULL PRIMARY KEY, number INTEGER NOT NULL, at INTEGER NOT NULL) WITHOUT ROWID"
    /// The time after which the rows of inactive clients are removed. Each client removes them in its first commit.
    private static let keptSeconds = 30 * 24 * 3600

    init() {
        client = (0..<2).map { _ in String(UInt64.random(in: 0...UInt64.max), radix: 16) }.joined(separator: "-")
    }

    /// Increments ``number``, and returns the SQL that writes it.
    func next() -> String {
        number += 1
        let pruning = number == 1 ? "; DELETE FROM \(Self.table) WHERE at < strftime('%s') - \(Self.keptSeconds)" : ""
        return write(number) + pruning
    }

    /// Returns the SQL that restores the previous number after a commit without effect.
    func fence(before number: Int64) -> String { write(number - 1) }

    /// The SQL that marks the open transaction with the number -1, which its commit later replaces.
    var mark: String { write(-1) }

    /// An SQL condition that is true in a marked transaction, and false after a rollback of the transaction.
    var isMarked: String { "(\(question)) < 0" }

    /// The SQL that reads the number of the client's last commit.
    var question: String { "SELECT number FROM \(Self.table) WHERE client = '\(client)'" }

    private func write(_ number: Int64) -> String {
        "INSERT OR REPLACE INTO \(Self.table) (client, number, at) VALUES ('\(client)', \(number), CAST(strftime('%s') AS INTEGER))"
    }
}
