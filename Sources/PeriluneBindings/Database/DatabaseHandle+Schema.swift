internal import CPeriluneRows
internal import GRDB
internal import PeriluneRecords

/// The schema of a database, reloaded after each schema change.
extension DatabaseHandle {
    /// Returns the current schema of the table with the given name.
    ///
    /// - Throws: ``RequestError`` of kind `unknown_table`.
    func table(_ name: String) throws -> TableSchema {
        if let table = schema.knownTable(name) { return table }
        return try withConnection { db in try schema.table(name, in: db) }
    }

    /// The current schema of the database.
    var schema: DatabaseSchema {
        let generation = pdb_schema_generation(pointer)
        if database.schema.generation != generation {
            database.schema = DatabaseSchema(generation: generation, after: database.schema)
        }
        return database.schema
    }
}
