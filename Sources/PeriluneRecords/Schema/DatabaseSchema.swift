package import GRDB
internal import Synchronization

/// The tables of a database in one generation of its schema, read on first use.
///
/// When the schema may have changed, a new instance replaces it. The new instance reuses the objects of unchanged tables, so requests built
/// on these tables, and their compiled forms, remain valid.
package final class DatabaseSchema: Sendable {
    /// A number that increases whenever the schema may have changed.
    package let generation: Int64
    /// The tables by case-folded name. Tables from an earlier generation are read again before they are used.
    private let tables: Mutex<[String: Entry]>

    private struct Entry {
        var table: TableSchema
        var isCurrent: Bool
    }

    /// - Parameter previous: The schema of the previous generation.
    package init(generation: Int64, after previous: DatabaseSchema? = nil) {
        self.generation = generation
        let known = previous?.tables.withLock { $0 } ?? [:]
        tables = Mutex(known.mapValues { Entry(table: $0.table, isCurrent: false) })
    }

    /// Returns the table or view with the given name, ignoring case, or `nil`.
    package func findTable(_ name: String, in db: Database) throws -> TableSchema? {
        if let table = knownTable(name) { return table }
        let table = try TableSchema.read(name, in: db)
        return tables.withLock { tables in
            guard let table else {
                tables[name.foldedName] = nil
                return nil
            }
            let known = tables[name.foldedName]?.table
            let kept = known.map { $0.isEqual(to: table) } == true ? known! : table
            tables[name.foldedName] = Entry(table: kept, isCurrent: true)
            return kept
        }
    }

    /// Returns the table or view with the given name, ignoring case.
    ///
    /// - Throws: ``RequestError`` of kind `unknown_table`, which suggests the nearest name.
    package func table(_ name: String, in db: Database) throws -> TableSchema {
        if let table = try findTable(name, in: db) { return table }
        if let error = try qualifiedNameError(name, in: db) { throw error }
        // Suggestions leave out the library's internal tables.
        throw RequestError.unknown("table", name, among: try TableSchema.names(in: db).filter { !OwnTables.contain($0) })
    }

    /// Returns the error for a name of the form `schema.table`, which states the name to use instead. A name without a schema is resolved
    /// in SQLite's order.
    private func qualifiedNameError(_ name: String, in db: Database) throws -> RequestError? {
        let parts = name.split(separator: ".", maxSplits: 1).map(String.init)
        guard parts.count == 2,
            try Bool.fetchOne(
                db, sql: "SELECT EXISTS (SELECT * FROM pragma_table_list(?1) WHERE schema = ?2 COLLATE NOCASE)",
                arguments: [parts[1], parts[0]]) == true, let found = try findTable(parts[1], in: db)
        else { return nil }
        if found.databaseName.foldedName == parts[0].foldedName {
            return RequestError(
                "unknown_table",
                "no table `\(name)`: use the name of the table alone for tables of attached databases: `\(found.name)`",
                fields: ["name": name, "suggestion": found.name])
        }
        return RequestError(
            "unknown_table",
            "no table `\(name)`: `\(found.name)` means the table of `\(found.databaseName)`, which is found first; rename one of "
                + "them, use SQL, or open the other database separately (perilune.queue(path))",
            fields: ["name": name])
    }

    /// Returns the table with the given name if it has been read in this generation.
    package func knownTable(_ name: String) -> TableSchema? {
        tables.withLock { tables in
            guard let entry = tables[name.foldedName], entry.isCurrent else { return nil }
            return entry.table
        }
    }
}
