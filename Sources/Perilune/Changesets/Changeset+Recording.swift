internal import CPeriluneRows
public import GRDB
internal import PeriluneLua

/// Methods that record the changes of a database.
extension Changeset {
    /// Records the changes that a closure makes in the schema "main" of a database. Must be called on the connection's queue.
    ///
    /// The recording includes changes by triggers and foreign key actions, but not changes that a savepoint has rolled back. The closure
    /// must use the same connection. The recording uses at most `limitInBytes` of memory, which counts towards the memory limit of a run if
    /// a script records.
    ///
    /// - Throws: ``ChangesetError`` if a changed table cannot be recorded, or the changes exceed `limitInBytes`; the error of the closure.
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
                ? ChangesetError(
                    .tooLarge, "the changes would take more than \(LuaLimits.text(ofBytes: limitInBytes)); record fewer at a time"
                )
                : ChangesetError(.unrecordable, "the changes could not be recorded: the columns of a table changed")
        }
        let schema = try SchemaSnapshot(db)
        let reasons = schema.unrecorded(recording.touchedTables, nullKeys.union(try schema.tablesWithNullKeys(db)))
        if let (name, reason) = reasons.first ?? recording.tablesWithReplacedKeys.min().map({ ($0, PreviewTable.replacedKeys) }) {
            // The script may never have named the table that its write to another table has changed by a trigger.
            let synchronized = schema.synchronization(writing: name).flatMap { found in
                recording.touchedTables.contains { $0.foldedName == found.content.foldedName } ? found : nil
            }
            let (name, reason) = synchronized ?? (name, reason)
            throw ChangesetError(.unrecordable, "the changes of `\(name)` cannot be recorded: \(reason)", table: name)
        }
        return (Changeset(bytes: try changeset.data()), result)
    }
}

extension SchemaSnapshot {
    /// Returns the names of the tables whose keys contain NULL. In such a table, several rows may have the same key.
    func tablesWithNullKeys(_ db: Database) throws -> Set<String> {
        Set(try tables.filter { try !$0.nullableKey.isEmpty && TableComparison.hasNullKey(db, $0, "main") }.map(\.name))
    }

    /// Returns the changed tables that cannot be recorded, with the reasons.
    ///
    /// - Parameter nullKeys: The tables whose keys contain NULL now, or did so when the recording began.
    func unrecorded(_ touched: [String], _ nullKeys: Set<String>) -> [(name: String, reason: String)] {
        touched.sorted().compactMap(table).compactMap { table in
            let reason = table.unrecordable ?? (nullKeys.contains(table.name) ? "some of its rows have NULL in their key" : nil)
            return reason.map { (table.name, $0) }
        }
    }
}
