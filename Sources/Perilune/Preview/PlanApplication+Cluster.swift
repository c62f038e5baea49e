internal import CPeriluneRows
internal import Foundation
internal import GRDB
internal import PeriluneRecords

/// The application of a plan to a database in a cluster, in one transaction. Each statement changes a row only if the row still has the
/// expected values.
struct ClusterPlanApplication {
    let changeset: ChangesetStream
    /// The outline of the changeset, which is the same for the inverted changeset.
    let outline: ChangesetOutline
    /// The updated rows whose other columns must also be unchanged; `nil` to ignore the other columns.
    let seen: SeenRows?
    let schemaHash: String

    /// - Throws: ``PlanError``, ``ClusterFailure``, or a GRDB error.
    func run(in url: String) throws {
        var configuration = GRDB.Configuration()
        configuration.foreignKeysEnabled = false
        let queue = try DatabasePlaces.open(url: url, configuration: configuration)
        let place = DatabasePlaces.of(queue)
        let schema = try place.copyInMemory(of: queue).read { db in try SchemaSnapshot(db) }
        guard schema.hash == schemaHash else { throw Self.schemaHasChanged }
        try requireNoTriggers(schema)
        try queue.writeWithoutTransaction { db in
            try place.using(isCancelled: { false }) {
                let statements = Statements(place: place, db: db, schema: schema)
                do {
                    // The schema may have changed between the copy and the transaction.
                    try place.inTransaction(of: db, outdated: Self.schemaHasChanged) { try statements.apply(changeset, seen) }
                } catch let error as PlanError where error.code == .conflict {
                    throw isRepeated(place, db, statements) ? error.forRepetition(of: changeset) : error
                }
            }
        }
    }

    /// Returns whether the database already contains all changes: their inverse could be applied. Changes nothing.
    private func isRepeated(_ place: any DatabasePlace, _ db: Database, _ statements: Statements) -> Bool {
        struct Rollback: Error {}
        do {
            try place.inTransaction(of: db, outdated: Self.schemaHasChanged) {
                try statements.apply(changeset.inverted(), nil)
                throw Rollback()
            }
            return false
        } catch {
            return error is Rollback
        }
    }

    private static let schemaHasChanged = PlanError(
        .schema, "the schema of the database has changed since the plan was made; make the plan again")

    /// Throws an error if a changed table has triggers. A plan already contains the effects of triggers, which a cluster would execute
    /// again.
    private func requireNoTriggers(_ schema: SchemaSnapshot) throws {
        let tables = Set(outline.tables.filter { $0.count > 0 }.map(\.name.foldedName))
        guard let trigger = schema.objects.first(where: { $0.type == "trigger" && tables.contains($0.table.foldedName) }) else {
            return
        }
        throw PlanError(
            .schema,
            "the table \(trigger.table) has the trigger \(trigger.name), which cannot be switched off in a cluster; run the script without --preview"
        )
    }

    private struct Statements {
        let place: any DatabasePlace
        let db: Database
        let schema: SchemaSnapshot

        func apply(_ changeset: ChangesetStream, _ seen: SeenRows?) throws {
            let before = try violations()
            try seen?.rows.forEach { try requireUnchanged(ChangesetRow($0)) }
            try changeset.forEach { try apply(ChangesetRow($0)) }
            guard try violations() <= before else {
                throw PlanError(.foreignKey, "conflict: a foreign key would refer to a row that does not exist")
            }
        }

        private func violations() throws -> Int64 {
            let question = "SELECT count(*) FROM pragma_foreign_key_check"
            let prepared = try place.prepare(question, in: db)
            return try withExtendedLifetime(prepared) { try Int64.fetchOne(prepared.statement) ?? 0 }
        }

        private func columns(of row: ChangesetRow) throws -> [String] {
            guard let names = schema.table(row.table)?.columns.map(\.name.quotedName), names.count == row.columnCount else {
                throw PlanError(.schema, "the table \(row.table) is missing, or has changed since the plan was made")
            }
            return names
        }

        /// Returns the columns whose values are known, and their values.
        private func known(_ values: [StoredValue?], _ names: [String]) -> (names: [String], values: [StoredValue]) {
            let pairs = zip(names, values).compactMap { name, value in value.map { (name, $0) } }
            return (pairs.map(\.0), pairs.map(\.1))
        }

        private func requireUnchanged(_ row: ChangesetRow) throws {
            let (names, values) = known(row.old, try columns(of: row))
            let isThere =
                try run("SELECT 1 FROM \(row.table.quotedName) WHERE \(Self.condition(names))", values, row) == SQLITE_ROW
            guard isThere else { throw PlanError(.conflict, "conflict: \(row.rowText) has changed since the plan was made") }
        }

        private func apply(_ row: ChangesetRow) throws {
            let names = try columns(of: row), table = row.table.quotedName
            let (old, former) = known(row.old, names), (new, later) = known(row.new, names)
            switch row.operation {
            case .insert:
                let places = new.map { _ in "?" }.joined(separator: ", ")
                try change("INSERT INTO \(table) (\(new.joined(separator: ", "))) VALUES (\(places))", later, row)
            case .delete: try change("DELETE FROM \(table) WHERE \(Self.condition(old))", former, row)
            case .update:
                let assignments = new.map { "\($0) = ?" }.joined(separator: ", ")
                try change("UPDATE \(table) SET \(assignments) WHERE \(Self.condition(old))", later + former, row)
            }
        }

        private static func condition(_ names: [String]) -> String { names.map { "\($0) IS ?" }.joined(separator: " AND ") }

        private func change(_ sql: String, _ values: [StoredValue], _ row: ChangesetRow) throws {
            _ = try run(sql, values, row)
            guard place.changesCount(of: db) == 1 else {
                throw PlanError(.conflict, "conflict: \(row.rowText) has changed since the plan was made, or no longer exists")
            }
        }

        /// Prepares a statement and executes one step. Returns SQLite's result code.
        private func run(_ sql: String, _ values: [StoredValue], _ row: ChangesetRow) throws -> CInt {
            let prepared = try place.prepare(sql, in: db)
            return try withExtendedLifetime(prepared) {
                let handle = prepared.statement.sqliteStatement
                defer { sqlite3_reset(handle) }
                for (index, value) in values.enumerated() { value.bind(to: handle, at: CInt(index + 1)) }
                let code = sqlite3_step(handle)
                if code == SQLITE_ROW || code == SQLITE_DONE { return code }
                let message = String(cString: sqlite3_errmsg(db.sqliteConnection))
                if code & 0xFF == SQLITE_CONSTRAINT { throw PlanError(.conflict, "conflict: \(row.rowText): \(message)") }
                throw DatabaseError(resultCode: ResultCode(rawValue: code), message: message)
            }
        }
    }
}
