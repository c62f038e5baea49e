import GRDB
import Testing

@testable import PeriluneRecords

@Suite struct TableSchemaTests {
    let database = try! DatabaseQueue()

    init() throws {
        try database.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE Author (id INTEGER PRIMARY KEY, name TEXT NOT NULL DEFAULT 'unknown', country);
                    CREATE TABLE book (
                        isbn TEXT PRIMARY KEY, author_id INTEGER NOT NULL REFERENCES author ON DELETE CASCADE,
                        title TEXT, price REAL, gross REAL AS (price * 1.2) STORED, half AS (price / 2),
                        UNIQUE (author_id, title));
                    CREATE TABLE loan (
                        book TEXT, day DATE, PRIMARY KEY (day, book),
                        FOREIGN KEY (book) REFERENCES book (isbn) ON UPDATE SET NULL) WITHOUT ROWID;
                    """)
            try db.execute(
                sql: """
                    CREATE UNIQUE INDEX some ON book (price) WHERE price > 0;
                    CREATE UNIQUE INDEX other ON book (lower(title), price);
                    CREATE INDEX plain ON book (title, price);
                    CREATE VIEW cheap AS SELECT * FROM book WHERE price < 5;
                    CREATE VIEW broken AS SELECT * FROM missing;
                    CREATE VIRTUAL TABLE note USING fts5(body);
                    CREATE TABLE descending (id INTEGER PRIMARY KEY DESC);
                    CREATE TABLE strict (a INT) STRICT;
                    CREATE TABLE names (rowid TEXT, _rowid_ INTEGER, oid TEXT, "a ""b" TEXT);
                    """)
        }
    }

    private func read(_ name: String) throws -> TableSchema {
        try #require(try database.read { db in try TableSchema.read(name, in: db) })
    }

    @Test func `a table is found regardless of case and is spelled as in the schema`() throws {
        let table = try read("AUTHOR")
        #expect(table.name == "Author")
        #expect(table.databaseName == "main")
        #expect(table.kind == .table)
        #expect(table.columns.map(\.name) == ["id", "name", "country"])
        #expect(table.columns.map(\.type.text) == ["INTEGER", "TEXT", ""])
        #expect(table.columns[1].defaultSQL == "'unknown'")
        #expect(table.columns[1].isNotNull)
        #expect(table.column(named: "NAME") == 1)
        #expect(table.column(named: "nmae") == nil)
        #expect(table.column(named: "oid") == 0)
        #expect(table.primaryKey == [0])
        #expect(table.primaryKeyIsRowID)
        #expect(table.uniqueKeys == [[0]])
    }

    @Test func `foreign keys are listed with both sides, and unique keys without partial and expression indexes`() throws {
        let table = try read("book")
        #expect(Set(table.uniqueKeys) == [[0], [1, 2]])
        #expect(!table.primaryKeyIsRowID)
        #expect(table.column(named: "rowid") == TableSchema.rowID)
        #expect(table.containsUniqueKey([2, 1]))
        #expect(!table.containsUniqueKey([3]))
        #expect(table.indexes.contains([2, 3]))
        #expect(table.columns.map(\.generation) == [nil, nil, nil, nil, .stored, .virtual])
        #expect(
            table.foreignKeys == [
                .init(
                    table: "author", columns: ["author_id"], referencedColumns: ["id"], onDelete: "cascade", onUpdate: "no action"
                )
            ])
        #expect(try read("loan").foreignKeys.map(\.onUpdate) == ["set null"])
    }

    @Test func `composite keys keep their order, and a table WITHOUT ROWID has no row id`() throws {
        let table = try read("loan")
        #expect(table.primaryKey == [1, 0])
        #expect(table.isWithoutRowID)
        #expect(table.column(named: "rowid") == nil)
    }

    @Test func `an INTEGER PRIMARY KEY DESC is not the row id`() throws {
        #expect(try !read("descending").primaryKeyIsRowID)
        #expect(try read("strict").isStrict)
    }

    @Test func `columns can hide the names of the row id`() throws {
        let table = try read("names")
        #expect(table.column(named: "oid") == 2)
        #expect(table.rowIDName == nil)
        #expect(table.column(named: "A \"B") == 3)
    }

    @Test func `views and virtual tables are described, and an unusable view reports its error`() throws {
        #expect(try read("cheap").kind == .view)
        #expect(try read("cheap").columns.count == 6)
        let note = try read("note")
        #expect(note.kind == .virtual)
        #expect(note.columns.map(\.isHidden) == [false, true, true])
        #expect(note.visibleColumns == [0])
        let error = #expect(throws: DatabaseError.self) { try read("broken") }
        #expect(error?.message?.contains("missing") == true)
    }

    @Test func `temporary tables take precedence, and attached tables are found`() throws {
        try database.writeWithoutTransaction { db in
            try db.execute(sql: "ATTACH ':memory:' AS more; CREATE TABLE more.extra (x, y); CREATE TEMP TABLE book (only)")
            #expect(try TableSchema.read("book", in: db)?.columns.map(\.name) == ["only"])
            #expect(try TableSchema.read("extra", in: db)?.databaseName == "more")
        }
    }

    @Test func `an unchanged table keeps its object after a schema change`() throws {
        try database.write { db in
            let first = DatabaseSchema(generation: 1)
            let author = try first.table("author", in: db)
            let book = try first.table("book", in: db)
            #expect(first.knownTable("AUTHOR") === author)
            try db.execute(sql: "ALTER TABLE book ADD COLUMN pages INTEGER")
            let second = DatabaseSchema(generation: 2, after: first)
            #expect(second.knownTable("author") == nil)
            #expect(try second.table("author", in: db) === author)
            #expect(try second.table("book", in: db) !== book)
            #expect(try second.table("book", in: db).columns.last?.name == "pages")
            #expect(try second.findTable("nothing", in: db) == nil)
            try db.execute(sql: "DROP TABLE loan")
            #expect(try DatabaseSchema(generation: 3, after: second).findTable("loan", in: db) == nil)
        }
    }

    @Test func `an unknown table is an error with the nearest name`() throws {
        let error = #expect(throws: RequestError.self) {
            try database.read { db in try DatabaseSchema(generation: 1).table("auhtor", in: db) }
        }
        #expect(error?.kind == "unknown_table")
        #expect(error?.message.contains("did you mean `Author`?") == true)
        #expect(error?.fields["suggestion"] == "Author")
    }
}
