import Testing
import PeriluneLuaFileTools

@Suite struct SchemaTests {
    private let library = """
        db:execute[[
          CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT NOT NULL DEFAULT 'unknown', country TEXT);
          CREATE TABLE book (
            isbn TEXT PRIMARY KEY,
            author_id INTEGER NOT NULL REFERENCES author ON DELETE CASCADE,
            title TEXT COLLATE NOCASE,
            price REAL,
            gross REAL GENERATED ALWAYS AS (price * 1.2) STORED,
            UNIQUE (author_id, title));
          CREATE TABLE loan (book TEXT, day DATE, PRIMARY KEY (day, book), FOREIGN KEY (book) REFERENCES book (isbn)
            ON UPDATE CASCADE) WITHOUT ROWID;
          CREATE INDEX book_price ON book (price) WHERE price > 0;
          CREATE INDEX book_lower ON book (lower(title), price);
          CREATE VIEW cheap AS SELECT * FROM book WHERE price < 5;
          CREATE TRIGGER touch AFTER INSERT ON book BEGIN SELECT 1; END;
        ]]

        """

    @Test func `tables, views and triggers are listed in alphabetical order`() async throws {
        try await script(
            library + """
                equal(db:tables(), { "author", "book", "loan" })
                equal(db:views(), { "cheap" })
                equal(db:triggers()[1].name, "touch")
                equal(#db:triggers("BOOK"), 1)
                equal(#db:triggers("author"), 0)
                equal(db:table_exists("Author"), true)
                equal(db:table_exists("cheap"), false)
                equal(db:view_exists("cheap"), true)
                equal(db:index_exists("book_price"), true)
                equal(db:trigger_exists("nothing"), false)
                db:execute("CREATE TEMP TABLE scratch (a)")
                equal(db:table_exists("scratch"), true)
                """)
    }

    @Test func `columns have a type, a default, a key position and a generation`() async throws {
        try await script(
            library + """
                local columns = db:columns("author")
                equal(columns[1], { name = "id", type = "INTEGER", not_null = false, primary_key = 1, hidden = false })
                equal(columns[2].default, "'unknown'")
                equal(columns[2].not_null, true)
                equal(db:columns("book")[5].generated, "stored")
                equal(#db:columns("cheap"), 5)
                """)
    }

    @Test func `primary keys can be single, composite, the row id or missing`() async throws {
        try await script(
            library + """
                equal(db:primary_key("author"), { columns = { "id" }, rowid = true })
                equal(db:primary_key("book"), { columns = { "isbn" }, rowid = false })
                equal(db:primary_key("loan"), { columns = { "day", "book" }, rowid = false })
                db:execute("CREATE TABLE plain (a)")
                equal(db:primary_key("plain"), { columns = {}, rowid = false })
                """)
    }

    @Test func `indexes and unique keys are found`() async throws {
        try await script(
            library + """
                local indexes = {}
                for _, index in ipairs(db:indexes("book")) do indexes[index.name] = index end
                equal(indexes.book_price.partial, true)
                equal(indexes.book_price.unique, false)
                equal(indexes.book_lower.columns, { false, "price" })
                equal(indexes.sqlite_autoindex_book_1.origin, "primary key")
                equal(indexes.sqlite_autoindex_book_2.columns, { "author_id", "title" })
                equal(db:has_unique_key("book", { "Title", "author_id" }), true)
                equal(db:has_unique_key("book", { "price" }), false)
                equal(db:has_unique_key("author", { "id" }), true)
                """)
    }

    @Test func `foreign keys name both sides and their actions`() async throws {
        try await script(
            library + """
                equal(db:foreign_keys("book"), { {
                  table = "author", columns = { "author_id" }, referenced_columns = { "id" },
                  on_update = "no action", on_delete = "cascade",
                } })
                equal(db:foreign_keys("loan")[1].on_update, "cascade")
                equal(#db:foreign_keys("author"), 0)
                """)
    }

    @Test func `rows that violate foreign keys are found`() async throws {
        try await script(
            library + """
                equal(#db:foreign_key_violations(), 0)
                db:execute("PRAGMA foreign_keys = OFF")
                db:execute("INSERT INTO book (isbn, author_id) VALUES ('1', 99)")
                local violations = db:foreign_key_violations("book")
                equal(#violations, 1)
                equal(violations[1].referenced_table, "author")
                equal(#db:foreign_key_violations("author"), 0)
                """)
    }

    @Test func `an unknown table is an error with the nearest name`() async throws {
        try await script(
            library + """
                for _, method in ipairs{ "columns", "primary_key", "indexes", "foreign_keys" } do
                  matches(fails("unknown_table", db[method], db, "autor"), "did you mean `author`?")
                  fails("argument", db[method], db, 42)
                  fails("argument", db[method], db)
                end
                fails("unknown_table", db.columns, db, 'x"; DROP TABLE author; --')
                equal(db:table_exists("author"), true)
                """)
    }

    @Test func `a query plan is a tree`() async throws {
        try await script(
            library + """
                local plan = db:explain("SELECT * FROM author JOIN book ON author_id = author.id WHERE author.id = ?", 1)
                equal(#plan > 0, true)
                matches(plan, "SEARCH author USING INTEGER PRIMARY KEY")
                matches(db:explain("SELECT name FROM author UNION SELECT isbn FROM book"), "   └─")
                fails("argument", db.explain, db)
                fails("sql", db.explain, db, "SELEC")
                """)
    }

    @Test func `the schema can be read as SQL, even inside a block`() async throws {
        try await script(
            library + """
                matches(db:schema_sql(), "CREATE TABLE author")
                db:read(function(db) equal(#db:tables(), 3) equal(#db:columns("book"), 5) end)
                db:write(function(db) db:execute("CREATE TABLE more (a)") equal(#db:tables(), 4) end)
                """)
    }
}
