internal import GRDB
internal import PeriluneRecords

/// A snapshot of the schema of a database.
struct SchemaSnapshot {
    /// A table, an index, a view, a trigger, or a number in the file header, which has the type `pragma`.
    struct Object: Equatable {
        let type: String
        let name: String
        let table: String
        let sql: String
    }

    let objects: [Object]
    /// All tables, without views.
    let tables: [PreviewTable]
    /// The schema version in the file header. Every schema change increments it, even if the change is undone later, and so does VACUUM.
    let version: Int

    /// Reads the schema of the main database or an attached database.
    init(_ db: Database, schema: String = "main") throws {
        let stored = try Row.fetchAll(
            db,
            sql: """
                SELECT type, name, tbl_name, sql FROM \(schema.quotedName).sqlite_master
                WHERE name NOT LIKE 'sqlite@_%' ESCAPE '@' ORDER BY type, name
                """
        ).map { Object(type: $0[0], name: $0[1], table: $0[2], sql: $0[3] ?? "") }
        let settings = try ["application_id", "user_version"].map { name in
            let value = try Int.fetchOne(db, sql: "PRAGMA \(schema.quotedName).\(name)") ?? 0
            return Object(type: "pragma", name: name, table: "", sql: "\(value)")
        }
        objects = stored + settings
        tables = try PreviewTable.fetchAll(db, schema: schema)
        version = try Int.fetchOne(db, sql: "PRAGMA \(schema.quotedName).schema_version") ?? 0
    }

    func table(_ name: String) -> PreviewTable? {
        tables.first { $0.name.foldedName == name.foldedName }
    }

    /// Returns the table that a full-text table follows, and the reason why its changes cannot be recorded, for a table that the triggers
    /// of `db:create_fts5` write to: the full-text table, its shadow tables, and the table of replaced rows.
    func synchronization(writing written: String) -> (content: String, reason: String)? {
        let written = written.foldedName
        for trigger in objects where trigger.type == "trigger" && trigger.name.hasPrefix("__") && trigger.name.hasSuffix("_ai") {
            let fullText = String(trigger.name.dropFirst(2).dropLast(3)), folded = fullText.foldedName
            guard table(fullText)?.kind == .virtual,
                written == folded || written == "__\(folded)_replaced"
                    || written.hasPrefix(folded + "_") && table(written)?.kind == .shadow
            else { continue }
            return (
                trigger.table,
                "the full-text table `\(fullText)` is synchronized with it by triggers, whose changes cannot be recorded; drop `\(fullText)` "
                    + "first and create it again afterwards, or keep a history (perilune.history), which can undo the changes"
            )
        }
        return nil
    }

    /// The SHA-256 hash of the schema.
    var hash: String {
        SHA256.hash(objects.flatMap { [$0.type, $0.name, $0.table, $0.sql] }.joined(separator: "\0").utf8)
    }

    /// Returns the changes since a previous schema, tables first.
    func changes(since former: SchemaSnapshot) -> [SchemaChange] {
        let old = Dictionary(former.listed.map { ($0.identity, $0) }, uniquingKeysWith: { first, _ in first })
        let new = Dictionary(listed.map { ($0.identity, $0) }, uniquingKeysWith: { first, _ in first })
        return Set(old.keys).union(new.keys).compactMap { Self.change(from: old[$0], to: new[$0]) }.sorted {
            ($0.rank, $0.type, $0.name) < ($1.rank, $1.type, $1.name)
        }
    }

    /// The objects, without the shadow tables of virtual tables.
    private var listed: [Object] {
        objects.filter { object in table(object.table)?.kind != .shadow }
    }

    private static func change(from old: Object?, to new: Object?) -> SchemaChange? {
        guard let object = new ?? old, old != new else { return nil }
        let kind: SchemaChange.Kind = old == nil ? .added : new == nil ? .removed : .changed
        return SchemaChange(
            kind: kind, type: object.type, name: object.name, table: object.table, before: old?.sql, after: new?.sql)
    }
}

extension SchemaSnapshot.Object {
    fileprivate var identity: String { type + "\0" + name }
}

extension SchemaChange {
    fileprivate var rank: Int { type == "table" ? 0 : 1 }
}
