package import GRDB

/// The error of a foreign key check that found rows without their referenced rows.
package struct ForeignKeyError: Error {
    package struct Violation: Equatable, Sendable {
        package let table: String
        /// The rowid; `nil` in a table without rowids.
        package let rowID: Int64?
        package let referencedTable: String

        package init(table: String, rowID: Int64?, referencedTable: String) {
            (self.table, self.rowID, self.referencedTable) = (table, rowID, referencedTable)
        }
    }

    /// The first violations.
    package let violations: [Violation]
    /// Whether there are more violations.
    package let hasMore: Bool

    /// The maximum number of reported violations; more would not help the reader.
    private static let longestList = 100

    /// - Parameter found: All violations, or at least one more than the error reports.
    package init(_ found: [Violation]) {
        violations = Array(found.prefix(Self.longestList))
        hasMore = found.count > Self.longestList
    }

    private init(violations: [Violation], hasMore: Bool) { (self.violations, self.hasMore) = (violations, hasMore) }

    /// Checks all foreign keys of a database.
    ///
    /// - Throws: ``ForeignKeyError``.
    package static func check(_ db: Database) throws {
        var violations: [Violation] = []
        var hasMore = false
        let found = try db.foreignKeyViolations()
        while let violation = try found.next() {
            hasMore = violations.count == longestList
            if hasMore { break }
            violations.append(
                Violation(
                    table: violation.originTable, rowID: violation.originRowID,
                    referencedTable: violation.destinationTable))
        }
        if !violations.isEmpty { throw ForeignKeyError(violations: violations, hasMore: hasMore) }
    }

    /// A list of the violations by table, with up to five rowids each.
    package var summary: String {
        var groups: [(table: String, referenced: String, rows: [Int64?])] = []
        for violation in violations {
            let index = groups.firstIndex { $0.table == violation.table && $0.referenced == violation.referencedTable }
            if let index {
                groups[index].rows.append(violation.rowID)
            } else {
                groups.append((violation.table, violation.referencedTable, [violation.rowID]))
            }
        }
        return groups.map { Self.describe($0.table, $0.referenced, $0.rows) }.joined(separator: "; ")
    }

    private static func describe(_ table: String, _ referenced: String, _ rows: [Int64?]) -> String {
        let shown = rows.prefix(5).compactMap { $0 }.map(String.init)
        guard !shown.isEmpty else { return "\(rows.count) of `\(table)` to `\(referenced)`" }
        let list = shown.joined(separator: ", ") + (rows.count > shown.count ? ", ..." : "")
        return "row \(list) of `\(table)` to `\(referenced)`"
    }
}
