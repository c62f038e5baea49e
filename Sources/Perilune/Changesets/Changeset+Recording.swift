internal import CPeriluneRows
public import GRDB

/// Recording the changes of a database.
extension Changeset {
    /// Records a closure's changes in the schema "main" of a database, on the queue of its connection.
    ///
    /// Changes by triggers and foreign keys are recorded too. Changes undone by a savepoint are not. The recording may take
    /// `limitInBytes` of memory, which counts against the run's limit if a script records; `body` changes the database on the same
    /// connection.
    ///
    /// - Throws: ``ChangesetError`` if a table was changed that cannot be recorded, or if too much was; what the closure throws.
    public static func recording<Result>(
        in db: Database, limitInBytes: Int = 256 << 20, _ body: () throws -> Result
    ) throws -> (changeset: Changeset, result: Result) {
        let former = try SchemaSnapshot(db)
        let nullKeys = try former.tablesWithNullKeys(db)
        let recording = ChangeRecording(
            db, excluding: former.tables.filter { $0.unrecordable != nil }.map(\.name), limitInBytes: limitInBytes, in: .run)
        defer { recording.end() }
        let result = try body()
        recording.checkSize()
        guard let changeset = try recording.changeset() else {
            throw recording.isTooLarge
                ? ChangesetError(.tooLarge, "the changes would take more than \(limitInBytes) bytes; record fewer at a time")
                : ChangesetError(.unrecordable, "the changes could not be recorded: the columns of a table changed")
        }
        let schema = try SchemaSnapshot(db)
        let reasons = schema.unrecorded(recording.touchedTables, nullKeys.union(try schema.tablesWithNullKeys(db)))
        if let (name, reason) = reasons.first ?? recording.tablesWithReplacedKeys.min().map({ ($0, PreviewTable.replacedKeys) }) {
            throw ChangesetError(.unrecordable, "the changes of `\(name)` cannot be recorded: \(reason)", table: name)
        }
        return (Changeset(bytes: try changeset.data()), result)
    }
}

extension SchemaSnapshot {
    /// The names of the tables in which several rows may have the same key, because it is NULL.
    func tablesWithNullKeys(_ db: Database) throws -> Set<String> {
        Set(try tables.filter { try !$0.nullableKey.isEmpty && TableComparison.hasNullKey(db, $0, "main") }.map(\.name))
    }

    /// The changed tables whose rows recordings leave out, with the reasons.
    ///
    /// - Parameter nullKeys: The tables that have or had NULL in keys.
    func unrecorded(_ touched: [String], _ nullKeys: Set<String>) -> [(name: String, reason: String)] {
        touched.sorted().compactMap(table).compactMap { table in
            let reason = table.unrecordable ?? (nullKeys.contains(table.name) ? "some of its rows have NULL in their key" : nil)
            return reason.map { (table.name, $0) }
        }
    }
}
