import GRDB
import Testing

@testable import PeriluneRecords

@Suite struct TableDescriptionTests {
    let database = try! DatabaseQueue()

    init() throws {
        try database.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT UNIQUE);
                    CREATE TABLE book (
                        id INTEGER PRIMARY KEY, author INTEGER REFERENCES author ON DELETE CASCADE, title TEXT NOT NULL DEFAULT 'x',
                        FOREIGN KEY (title) REFERENCES author (name));
                    CREATE INDEX book_by_title ON book (lower(title), author) WHERE author > 1;
                    CREATE VIEW old AS SELECT * FROM book;
                    CREATE TRIGGER note_book AFTER INSERT ON book BEGIN SELECT 1; END;
                    CREATE VIRTUAL TABLE search USING fts5(body);
                    """)
        }
    }

    @Test func `tables and views are described without SQLite's internal ones`() throws {
        let tables = try database.read { db in try TableDescription.readAll(in: db) }
        #expect(tables.map(\.name) == ["author", "book", "old", "search"])
        #expect(tables.map(\.kind) == ["table", "table", "view", "virtual"])
        #expect(tables[2].sql == "CREATE VIEW old AS SELECT * FROM book")
        let book = try database.read { db in try #require(try TableDescription.readAll(in: db, named: "BOOK").first) }
        #expect(book == tables[1])
        #expect(book.foreignKeys.map(\.references) == [[nil], ["name"]])
        #expect(
            book.indexes == [
                .init(
                    name: "book_by_title", columns: [nil, "author"], collations: ["BINARY", "BINARY"], isUnique: false,
                    isPartial: true, origin: "c")
            ])
        #expect(book.columns[2].defaultValue == "'x'")
    }

    @Test func `a temporary table hides the main table with the same name`() throws {
        try database.write { db in
            try db.execute(sql: "CREATE TEMP TABLE book (only TEXT)")
            let book = try TableDescription.read("book", in: db)
            #expect(book?.database == "temp")
            #expect(book?.sql == "")
            #expect(try TableDescription.readAll(in: db, named: "book").first?.columns.count == 3)
        }
    }

    @Test func `the described statements recreate the schema`() throws {
        let (all, ofBook) = try database.read { db in
            (try SchemaStatements.read(in: db), try SchemaStatements.read(in: db, of: "Book"))
        }
        #expect(ofBook.count == 3)
        let copy = try DatabaseQueue()
        try copy.write { db in try db.execute(sql: SchemaStatements.text(all)) }
        #expect(try copy.read { db in try SchemaStatements.read(in: db) } == all)
    }
}
