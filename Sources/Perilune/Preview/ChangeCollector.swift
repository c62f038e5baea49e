internal import Foundation
internal import GRDB

/// Finds out what a previewed script has changed in its copy.
struct ChangeCollector {
    /// What was known before the script ran.
    struct Start {
        let schema: SchemaSnapshot
        let recording: ChangeRecording
    }

    private let db: Database
    private let copy: PreviewCopy
    private let start: Start
    private let rowLimit: Int
    private let schema: SchemaSnapshot
    private let usesRecording: Bool
    private var report = PreviewReport()
    private var isFormerStateAttached = false

    /// - Parameter usesRecording: Else all tables are compared: `db` is a clone of what was recorded.
    init(_ db: Database, copy: PreviewCopy, start: Start, rowLimit: Int, usesRecording: Bool = true) throws {
        self.db = db
        self.copy = copy
        self.start = start
        self.rowLimit = rowLimit
        self.usesRecording = usesRecording
        schema = try SchemaSnapshot(db)
    }

    /// What a plan makes of the changes.
    struct Changes {
        let changeset: Changeset
        let seen: SeenRows
    }

    /// Makes the report, and the changes for a plan if one can hold all that has changed.
    consuming func collect() throws -> (report: PreviewReport, changes: Changes?) {
        report.schema = schema.changes(since: start.schema)
        // A recording knows nothing of changes to the schema, and of tables that are not any more what they were.
        let isSameSchema = schema.version == start.schema.version && schema.objects == start.schema.objects
        let recorded = isSameSchema && usesRecording ? start.recording.changeset() : nil
        if let recorded {
            try takeRecorded(recorded)
        } else {
            try compareAll()
        }
        report.tables.sort { ($0.name.lowercased(), $0.name) < ($1.name.lowercased(), $1.name) }
        addObstacles()
        guard report.obstacles.isEmpty else { return (report, nil) }
        let changeset = try recorded ?? compared()
        if let obstacle = try obstacleToRepeating(changeset) {
            report.obstacles.append(obstacle)
            return (report, nil)
        }
        return (report, Changes(changeset: changeset, seen: try SeenRows(changeset, in: db, schema: schema)))
    }

    private mutating func attachFormerState() throws {
        guard !isFormerStateAttached else { return }
        try copy.attachFormerState(db)
        isFormerStateAttached = true
    }

    // MARK: - Recorded changes

    private mutating func takeRecorded(_ changeset: Changeset) throws {
        var others: [PreviewTable] = []
        for table in start.recording.touchedTables.compactMap(schema.table) {
            if table.unrecordable != nil {
                others.append(table.kind == .shadow ? owner(of: table) ?? table : table)
            } else if try keyObstacle(table, start.schema.table(table.name)) != nil {
                others.append(table)
            }
        }
        let compared = Set(others.map(\.name))
        for changes in try ChangesetSummary(changeset, rowLimit: rowLimit, schema: schema).tables
        where !compared.contains(changes.name) {
            report.tables.append(try completed(changes))
        }
        for name in compared {
            try compare(schema.table(name), start.schema.table(name), keepsRowIDs: true, isTouched: true)
        }
    }

    private mutating func completed(_ changes: TableChanges) throws -> TableChanges {
        var changes = changes
        do {
            try changes.complete(from: db)
        } catch let error as DatabaseError {
            // Names that are not UTF-8 do not come back unchanged.
            changes.rows = []
            report.warnings.append("the rows of \(changes.name) cannot be shown: \(error.message ?? "\(error.resultCode)")")
        }
        return changes
    }

    /// Why sessions cannot record a table that they can record otherwise: for the keys of its rows, now or before.
    private mutating func keyObstacle(_ new: PreviewTable, _ old: PreviewTable?) throws -> String? {
        guard let old, !new.nullableKey.isEmpty || new.hasLooseKey else { return nil }
        try attachFormerState()
        if try TableComparison.hasNullKey(db, new, "main") || TableComparison.hasNullKey(db, old, PreviewCopy.formerSchema) {
            return "some of its rows have NULL in their key"
        }
        guard try TableComparison.hasRestoredKey(db, new, old) else { return nil }
        return "keys of its rows changed to values that SQLite considers equal"
    }

    /// The virtual table that keeps its rows in another.
    private func owner(of shadow: PreviewTable) -> PreviewTable? {
        schema.tables.filter { $0.kind == .virtual && shadow.name.hasPrefix($0.name + "_") }.max {
            $0.name.count < $1.name.count
        }
    }

    // MARK: - Compared tables

    private mutating func compareAll() throws {
        let names = (schema.tables + start.schema.tables).filter { $0.kind != .shadow }.map { $0.name.lowercased() }
        for name in Set(names).sorted() {
            try compare(schema.table(name), start.schema.table(name), keepsRowIDs: false, isTouched: false)
        }
    }

    private mutating func compare(_ new: PreviewTable?, _ old: PreviewTable?, keepsRowIDs: Bool, isTouched: Bool) throws {
        guard let table = new ?? old else { return }
        try attachFormerState()
        do {
            let comparison = try TableComparison(db, new: new, old: old, keepsRowIDs: keepsRowIDs, rowLimit: rowLimit)
            var changes = try comparison.run()
            if changes.unrecordable == nil, let new { changes.unrecordable = try keyObstacle(new, old) }
            if changes.count > 0 { report.tables.append(changes) }
        } catch let error as DatabaseError {
            // Functions and collations of the script cannot be called any more, virtual tables refuse what they like.
            report.warnings.append(
                "the rows of \(table.name) cannot be compared: \(error.message ?? "\(error.resultCode)")")
            guard isTouched else { return }
            var changes = TableChanges(name: table.name)
            changes.unrecordable = table.unrecordable
            changes.isCounted = false
            report.tables.append(changes)
        }
    }

    /// The changeset of the tables that were found different.
    private func compared() throws -> Changeset {
        try Changeset(db, since: PreviewCopy.formerSchema, of: report.tables.map(\.name))
    }

    // MARK: - Obstacles

    /// Why the changes cannot be made to the original. Tried on the copy, backwards: two rows that have changed places in a unique
    /// index, for one, cannot be written in any order.
    private func obstacleToRepeating(_ changeset: Changeset) throws -> String? {
        let inverse = try changeset.inverted()
        let foreignKeys = try ForeignKeyCheck(db, schema, changeset)
        let violations = try foreignKeys.countViolations()
        let violation = try violations > 0 ? foreignKeys.describeViolation() : ""
        try db.execute(sql: "PRAGMA foreign_keys = OFF")
        var obstacle: String?
        // Deferred: the former state, which is attached, cannot be written to.
        try db.inTransaction(.deferred) {
            do {
                try inverse.apply(to: db, schema: schema)
                if try foreignKeys.countViolations() < violations { obstacle = "a foreign key would be violated: \(violation)" }
            } catch let error as PlanError {
                obstacle = "the changes cannot be applied row by row: \(error.message.replacing("conflict: ", with: ""))"
            } catch let error as DatabaseError {
                obstacle = "the changes cannot be applied row by row: \(error.message ?? "\(error.resultCode)")"
            }
            return .rollback
        }
        return obstacle
    }

    private mutating func addObstacles() {
        if !report.schema.isEmpty { report.obstacles.append("the schema would change, and a plan holds only row changes") }
        for table in report.tables {
            if let reason = table.unrecordable {
                report.obstacles.append("\(table.name) cannot be recorded: \(reason)")
            }
        }
        if start.recording.isTooLarge {
            report.obstacles.append("too many rows would change to record them; they were only counted")
        }
        if !report.warnings.isEmpty { report.obstacles.append("not all tables could be compared") }
    }
}
