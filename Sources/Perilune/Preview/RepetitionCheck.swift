internal import Foundation
internal import GRDB
internal import PeriluneRecords

/// A check that the changes found by a preview can be applied to the original database.
///
/// Applying changes row by row can fail even if the states before and after are valid. For example, if two rows swap their values in a
/// unique index, each order of the updates violates the index. If such a failure is possible, the check applies the inverted changes to the
/// copy and rolls them back.
struct RepetitionCheck {
    let db: Database
    let schema: SchemaSnapshot
    let changes: PlanChanges
    let formerState: FormerStateAttachment

    /// Returns the reason why the changes cannot be applied; `nil` if they can.
    func obstacle() throws -> String? {
        try db.execute(sql: "PRAGMA foreign_keys = OFF")
        return try conflict() ?? violation()
    }

    // MARK: - Conflicts

    private func conflict() throws -> String? {
        let tables = Set(try changes.outline.tables.filter(needsTrial).map(\.name.foldedName))
        guard !tables.isEmpty else { return nil }
        var conflict: String?
        // Deferred, because an immediate transaction would also lock the attached previous state, which is read-only.
        try db.inTransaction(.deferred) {
            do {
                try changes.changeset.inverted().apply(to: db, only: tables, schema: schema)
            } catch let error as PlanError {
                conflict = "the changes cannot be applied row by row: \(error.message.replacing("conflict: ", with: ""))"
            } catch let error as DatabaseError where error.resultCode != .SQLITE_INTERRUPT {
                conflict = "the changes cannot be applied row by row: \(error.message ?? "\(error.resultCode)")"
            }
            return .rollback
        }
        return conflict
    }

    /// Returns whether applying the changes of a table row by row may fail.
    ///
    /// Keys never conflict, because each change has a different key. In a unique index, SQLite retries failed changes, so an inserted row
    /// succeeds after a deleted or updated row has released its values. Only updated rows can block each other. All other constraints
    /// concern single rows. Tables with constraints on computed values always need a trial.
    private func needsTrial(_ table: ChangesetOutline.Table) throws -> Bool {
        guard table.count > 0 else { return false }
        let sql = schema.objects.first { $0.type == "table" && $0.name.foldedName == table.name.foldedName }?.sql ?? ""
        if sql.range(of: "CHECK", options: .caseInsensitive) != nil { return true }
        let indexed = try Row.fetchAll(
            db,
            sql: """
                SELECT part.cid, list."unique" AND list.origin <> 'pk', list.partial
                FROM pragma_index_list(?1, 'main') AS list, pragma_index_xinfo(list.name, 'main') AS part
                WHERE part."key"
                """, arguments: [table.name])
        return indexed.contains { row in
            let (column, isUnique, isPartial) = (row[0] as Int, row[1] as Bool, row[2] as Bool)
            guard column >= 0, !isPartial else { return true }
            return isUnique && table.updated > 1 && table.isUpdated.indices.contains(column) && table.isUpdated[column]
        }
    }

    // MARK: - Foreign keys

    private func violation() throws -> String? {
        let foreignKeys = try ForeignKeyCheck(db, schema, changes.outline)
        guard !foreignKeys.isEmpty else { return nil }
        let violations = try foreignKeys.countViolations()
        guard violations > 0 else { return nil }
        try formerState.attach()
        guard try foreignKeys.countViolations(in: PreviewCopy.formerSchema) < violations else { return nil }
        return "a foreign key would be violated: \(try foreignKeys.describeViolation())"
    }
}
