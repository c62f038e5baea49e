package import GRDB

/// A recorder of the row changes on one connection. Must be used only on the connection's queue.
package final class RowChangeRecorder {
    private let schema: SchemaSnapshot
    private let recording: ChangeRecording
    /// The tables whose keys contained NULL when the recording began.
    private let nullKeys: Set<String>

    /// Starts to record.
    package init(_ db: Database, limitInBytes: Int = 256 << 20) throws {
        schema = try SchemaSnapshot(db)
        nullKeys = try schema.tablesWithNullKeys(db)
        let excluded = schema.tables.filter { $0.unrecordable != nil }.map(\.name)
        recording = ChangeRecording(db, excluding: excluded, limitInBytes: limitInBytes)
    }

    /// Returns the rows that have changed since the recording began, ordered by table and key, and the changed tables that cannot be
    /// recorded.
    ///
    /// - Throws: ``RecordingError`` if the recording is not complete.
    package func finish(_ db: Database) throws -> (tables: [TableChanges], unrecorded: [(name: String, reason: String)]) {
        guard let changeset = try recording.changeset() else {
            throw RecordingError(
                description: recording.isTooLarge
                    ? "too many changes to record"
                    : "the changes could not be recorded: the columns of a table changed")
        }
        let schema = try SchemaSnapshot(db)
        var tables: [TableChanges] = []
        for var changes in try ChangesetSummary(ChangesetStream(changeset), rowLimit: .max, schema: schema).tables {
            try changes.complete(from: db)
            tables.append(changes)
        }
        return (tables, schema.unrecorded(recording.touchedTables, nullKeys.union(try schema.tablesWithNullKeys(db))))
    }

    /// Ends the recording. Must be called before the connection is closed.
    package func end() {
        recording.end()
    }
}

/// The error of an incomplete recording.
package struct RecordingError: Error, CustomStringConvertible {
    package let description: String
}
