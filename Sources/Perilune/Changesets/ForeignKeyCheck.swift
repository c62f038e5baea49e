internal import GRDB
internal import PeriluneRecords

/// A check that changes do not violate foreign keys.
struct ForeignKeyCheck {
    private let db: Database
    /// The tables whose foreign keys the changes could violate: changed tables with foreign keys, and tables that refer to changed tables.
    private let tables: [String]

    init(_ db: Database, _ schema: SchemaSnapshot, _ outline: ChangesetOutline) throws {
        self.db = db
        let changed = Set(outline.tables.filter { $0.count > 0 }.map(\.name.foldedName))
        tables = try schema.tables.filter { $0.kind == .table }.map(\.name).filter { name in
            let parents = try String.fetchAll(db, sql: #"SELECT "table" FROM pragma_foreign_key_list(?)"#, arguments: [name])
            guard !parents.isEmpty else { return false }
            return changed.contains(name.foldedName) || parents.contains { changed.contains($0.foldedName) }
        }
    }

    /// Whether the changes affect no foreign keys.
    var isEmpty: Bool { tables.isEmpty }

    /// Returns the number of foreign key violations in a schema: "main" or an attached database.
    func countViolations(in schema: String = "main") throws -> Int {
        try tables.reduce(0) { count, name in
            try count
                + (Int.fetchOne(db, sql: "SELECT COUNT(*) FROM pragma_foreign_key_check(?, ?)", arguments: [name, schema]) ?? 0)
        }
    }

    /// Describes the first violation, for example `row 3 of book would refer to a row of author that does not exist`.
    func describeViolation() throws -> String {
        for name in tables {
            let row = try Row.fetchOne(db, sql: "SELECT rowid, parent FROM pragma_foreign_key_check(?)", arguments: [name])
            guard let row else { continue }
            let place = (row[0] as Int64?).map { "row \($0) of \(name)" } ?? "a row of \(name)"
            return "\(place) would refer to a row of \(row[1] as String) that does not exist"
        }
        return "a foreign key would refer to a row that does not exist"
    }
}
