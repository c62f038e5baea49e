internal import CPeriluneRows
internal import GRDB
internal import PeriluneRecords

/// A collector of the changes that a previewed script has made to its copy of the database.
struct ChangeCollector {
    /// The schema, and the recording of changes, from before the script ran.
    struct Start {
        let schema: SchemaSnapshot
        let recording: ChangeRecording
    }

    private let db: Database
    private let start: Start
    private let rowLimit: Int
    private let schema: SchemaSnapshot
    private let usesRecording: Bool
    private var report = PreviewReport()
    private let formerState: FormerStateAttachment
    /// The changes that were found by comparing tables.
    private let comparedChanges: PlanChangesWriter

    /// - Parameters:
    ///   - fileLimitInBytes: The maximum size of a temporary file of changes, in bytes.
    ///   - usesRecording: Whether to use the recorded changes. If `db` is a clone of the recorded database, pass `false` to compare all
    ///     tables instead.
    init(
        _ db: Database, copy: PreviewCopy, start: Start, rowLimit: Int, fileLimitInBytes: Int, usesRecording: Bool = true
    ) throws {
        self.db = db
        formerState = FormerStateAttachment(copy, to: db)
        self.start = start
        self.rowLimit = rowLimit
        self.usesRecording = usesRecording
        comparedChanges = PlanChangesWriter(limitInBytes: fileLimitInBytes)
        schema = try SchemaSnapshot(db)
    }

    /// Returns the report, and the changes for a plan; `nil` if a plan cannot contain all changes.
    ///
    /// - Throws: A `DatabaseError` with the code `SQLITE_INTERRUPT` soon after the task is cancelled.
    consuming func collect() throws -> (report: PreviewReport, changes: PlanChanges?) {
        // A progress handler, because cancellation in GRDB interrupts only the current statement, and a comparison runs many statements.
        let connection = db.sqliteConnection
        sqlite3_progress_handler(connection, 10_000, { _ in Task.isCancelled ? 1 : 0 }, nil)
        defer { sqlite3_progress_handler(connection, 0, nil, nil) }
        report.schema = schema.changes(since: start.schema)
        // A recording is unusable if the schema has changed.
        let isSameSchema = schema.version == start.schema.version && schema.objects == start.schema.objects
        let recording = isSameSchema && usesRecording ? start.recording : nil
        if usesRecording {
            start.recording.checkSize()
        }
        let recorded = try recording.flatMap(changeset)
        if let recorded {
            try takeRecorded(recorded)
        } else if recording != nil {
            try compareTouched()
        } else {
            try compareAll()
        }
        report.tables.sort { ($0.name.lowercased(), $0.name) < ($1.name.lowercased(), $1.name) }
        let compared = recorded == nil ? comparedChanges.finish() : nil
        addObstacles()
        guard report.obstacles.isEmpty, let changes = try recorded.map(planChanges) ?? compared else { return (report, nil) }
        let check = RepetitionCheck(db: db, schema: schema, changes: changes, formerState: formerState)
        if let obstacle = try check.obstacle() {
            report.obstacles.append(obstacle)
            return (report, nil)
        }
        return (report, changes)
    }

    // MARK: - Recorded changes

    /// Returns the recorded changes; `nil` if they are incomplete or invalid, or cannot be stored.
    private func changeset(of recording: ChangeRecording) throws -> ChangesetStream? {
        do {
            return try recording.changeset().map { ChangesetStream($0) }
        } catch let error as StorageError {
            comparedChanges.fail(error)
            return nil
        }
    }

    private func planChanges(_ changeset: ChangesetStream) throws -> PlanChanges {
        PlanChanges(changeset: changeset, seen: try SeenRows(changeset, in: db, schema: schema), outline: try changeset.outline())
    }

    private mutating func takeRecorded(_ changeset: ChangesetStream) throws {
        var others: [PreviewTable] = []
        for table in touchedTables where try !canBeRecorded(table) { others.append(table) }
        let compared = Set(others.map(\.name))
        for changes in try ChangesetSummary(changeset, rowLimit: rowLimit, schema: schema).tables
        where !compared.contains(changes.name) {
            report.tables.append(try completed(changes))
        }
        for name in compared {
            try compare(schema.table(name), start.schema.table(name), keepsRowIDs: true, isTouched: true)
        }
    }

    /// The tables that were written to. Shadow tables are replaced by their virtual tables.
    private var touchedTables: [PreviewTable] {
        start.recording.touchedTables.compactMap(schema.table).map { table in
            table.kind == .shadow ? owner(of: table) ?? table : table
        }
    }

    /// Returns whether a changeset can contain all changes of a table that existed before the script ran.
    private mutating func canBeRecorded(_ table: PreviewTable) throws -> Bool {
        try table.unrecordable == nil && keyObstacle(table, start.schema.table(table.name)) == nil
    }

    private mutating func completed(_ changes: TableChanges) throws -> TableChanges {
        var changes = changes
        do {
            try changes.complete(from: db)
        } catch let error as DatabaseError where error.resultCode != .SQLITE_INTERRUPT {
            // Reading fails for names that are not valid UTF-8, because decoding them to Swift strings changes them.
            changes.rows = []
            report.warnings.append("the rows of \(changes.name) cannot be shown: \(error.message ?? "\(error.resultCode)")")
        }
        return changes
    }

    /// Returns the reason why the keys of a table's rows, before or after the script, prevent a recording; `nil` if they do not.
    private mutating func keyObstacle(_ new: PreviewTable, _ old: PreviewTable?) throws -> String? {
        guard let old, !new.nullableKey.isEmpty || new.hasLooseKey else { return nil }
        try formerState.attach()
        if try TableComparison.hasNullKey(db, new, "main") || TableComparison.hasNullKey(db, old, PreviewCopy.formerSchema) {
            return "some of its rows have NULL in their key"
        }
        guard try TableComparison.hasRestoredKey(db, new, old) else { return nil }
        return PreviewTable.replacedKeys
    }

    /// Returns the virtual table that a shadow table belongs to.
    private func owner(of shadow: PreviewTable) -> PreviewTable? {
        schema.tables.filter { $0.kind == .virtual && shadow.name.hasPrefix($0.name + "_") }.max {
            $0.name.count < $1.name.count
        }
    }

    // MARK: - Compared tables

    /// Compares the tables that were written to. Used if too many changes were made to record them.
    private mutating func compareTouched() throws {
        for name in Set(touchedTables.map(\.name)).sorted() {
            try compareForPlan(schema.table(name), start.schema.table(name), keepsRowIDs: true, isTouched: true)
        }
    }

    private mutating func compareAll() throws {
        let names = (schema.tables + start.schema.tables).filter { $0.kind != .shadow }.map { ($0.name.foldedName, $0.name) }
        for (_, name) in Dictionary(names, uniquingKeysWith: { first, _ in first }).sorted(by: { $0.key < $1.key }) {
            let (new, old) = (schema.table(name), start.schema.table(name))
            if report.schema.isEmpty {
                try compareForPlan(new, old, keepsRowIDs: false, isTouched: false)
            } else {
                try compare(new, old, keepsRowIDs: false, isTouched: false)
            }
        }
    }

    /// Compares a table, and keeps its changes if a plan can contain them.
    private mutating func compareForPlan(_ new: PreviewTable?, _ old: PreviewTable?, keepsRowIDs: Bool, isTouched: Bool) throws {
        do {
            guard let new, let old, new.columns.map(\.name) == old.columns.map(\.name), try canBeRecorded(new) else {
                return try compare(new, old, keepsRowIDs: keepsRowIDs, isTouched: isTouched)
            }
            try formerState.attach()
            add(try KeyedTableComparison(db, new, rowLimit: rowLimit, to: comparedChanges).run())
        } catch let error as DatabaseError where error.resultCode != .SQLITE_INTERRUPT {
            addFailure(error, of: new ?? old, isTouched: isTouched)
        }
    }

    private mutating func compare(_ new: PreviewTable?, _ old: PreviewTable?, keepsRowIDs: Bool, isTouched: Bool) throws {
        guard new != nil || old != nil else { return }
        try formerState.attach()
        do {
            let comparison = try TableComparison(db, new: new, old: old, keepsRowIDs: keepsRowIDs, rowLimit: rowLimit)
            var changes = try comparison.run()
            if changes.unrecordable == nil, let new { changes.unrecordable = try keyObstacle(new, old) }
            add(changes)
        } catch let error as DatabaseError where error.resultCode != .SQLITE_INTERRUPT {
            addFailure(error, of: new ?? old, isTouched: isTouched)
        }
    }

    private mutating func add(_ changes: TableChanges) {
        if changes.count > 0 { report.tables.append(changes) }
    }

    /// Adds a warning about a failed comparison. A comparison fails if it needs a function or collation of the script, which no longer
    /// exists, or if a virtual table rejects the query.
    private mutating func addFailure(_ error: DatabaseError, of table: PreviewTable?, isTouched: Bool) {
        guard let table else { return }
        report.warnings.append("the rows of \(table.name) cannot be compared: \(error.message ?? "\(error.resultCode)")")
        guard isTouched else { return }
        var changes = TableChanges(name: table.name)
        changes.unrecordable = table.unrecordable
        changes.isCounted = false
        report.tables.append(changes)
    }

    // MARK: - Obstacles

    private var schemaObstacle: String? {
        if report.schema.isEmpty { return nil }
        let own = report.missingOwnTables
        guard !own.isEmpty else { return "the schema would change, and a plan holds only row changes" }
        return "\(own.joined(separator: ", ")) would be created for Perilune itself, and a plan holds only row changes"
    }

    private mutating func addObstacles() {
        if let obstacle = schemaObstacle { report.obstacles.append(obstacle) }
        for table in report.tables {
            if let reason = table.unrecordable {
                let synchronized = schema.synchronization(writing: table.name).flatMap { found in
                    report.tables.contains { $0.name.foldedName == found.content.foldedName } ? found : nil
                }
                let (name, reason) = synchronized ?? (table.name, reason)
                report.obstacles.append("\(name) cannot be recorded: \(reason)")
            }
        }
        if let failure = comparedChanges.failure { report.obstacles.append(failure) }
        if !report.warnings.isEmpty { report.obstacles.append("not all tables could be compared") }
    }
}
