import Foundation
import PeriluneTestTools
import Testing

@Suite(.patience, .startsPrograms) struct MigrateCommandTests {
    private static let files = [
        "migrations/0001_create.sql": "CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT NOT NULL);\n",
        "migrations/0002_pages.lua":
            "return function(db)\n  db:execute('ALTER TABLE book ADD COLUMN pages INTEGER')\nend\n",
    ]

    private func folder(_ more: [String: String] = [:]) throws -> TestFolder {
        try TestFolder(Self.files.merging(more) { $1 })
    }

    /// A folder whose database has both migrations applied.
    private func migrated(_ more: [String: String] = [:]) throws -> TestFolder {
        let folder = try folder()
        let result = try folder.perilune("migrate", "--database", "x.sqlite")
        try #require(result.status == 0, "\(result.errors)")
        for (name, text) in more { try folder.write(text, to: name) }
        return folder
    }

    private func tables(_ folder: TestFolder, _ database: String = "x.sqlite") throws -> String {
        try folder.perilune(
            "query", "--database", database, "--format", "csv",
            """
            SELECT group_concat(name, ' ') AS n FROM (
              SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'perilune_migration' ORDER BY name)
            """
        ).output
    }

    private func copies(_ folder: TestFolder) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.contains(".before-") }.sorted()
    }

    // MARK: - Migrating

    @Test func `pending migrations that precede applied ones are noted`() throws {
        let folder = try migrated(["migrations/0001_b.sql": "CREATE TABLE late (a);\n"])
        let result = try folder.perilune("migrate", "--database", "x.sqlite")
        #expect(result.status == 0)
        #expect(result.errors.contains("out of order: 0001_b comes before 0002_pages, which was applied already"), "\(result)")
        try folder.write("CREATE TABLE next (a);\n", to: "migrations/0003_c.sql")
        let next = try folder.perilune("migrate", "--database", "x.sqlite")
        #expect(!next.errors.contains("out of order"), "\(next)")
    }

    @Test(arguments: [["query", "SELECT 1"], ["doctor"], ["schema"], ["dump"], ["types"], ["migrate"], ["run", "-e", ""]])
    func `a folder in place of a database is an error that mentions the folder`(arguments: [String]) throws {
        let folder = try folder(["data.sqlite/readme": ""])
        let words = Array(arguments.prefix(1)) + ["--database", "data.sqlite"] + arguments.dropFirst()
        let result = try CommandProcess(TestFolder.binary, words, in: folder).wait()
        #expect(result.status != 0)
        #expect(result.errors.contains("cannot open the database data.sqlite: it is a folder"), "\(result)")
    }

    @Test func `a new database is created and migrated`() throws {
        let folder = try folder()
        let result = try folder.perilune("migrate", "--database", "x.sqlite", "--format", "csv")
        #expect(result.status == 0)
        #expect(result.errors == "created the database x.sqlite\n")
        let lines = result.output.split(separator: "\n")
        #expect(lines.first == "migration,seconds")
        #expect(lines.dropFirst().map { $0.split(separator: ",")[0] } == ["0001_create", "0002_pages"])
        #expect(lines.dropFirst().allSatisfy { Double($0.split(separator: ",")[1]) != nil })
        #expect(try tables(folder) == "n\nbook grdb_migrations\n")
        #expect(try copies(folder) == [])
    }

    @Test func `a second run of migrate applies and copies nothing`() throws {
        let folder = try migrated()
        let result = try folder.perilune("migrate", "--database", "x.sqlite")
        #expect((result.status, result.output, result.errors) == (0, "", "nothing is pending\n"))
        #expect(try copies(folder) == [])
    }

    @Test func `an error about a module that a migration requires mentions the folder`() throws {
        let folder = try TestFolder(["steps/a.lua": "local words = require 'words'\nreturn function() end"])
        let errors = try folder.perilune("migrate", "steps", "--database", "x.sqlite").errors
        #expect(errors.contains("\n  help  modules are searched in `steps`, the folder of the script, and in"), "\(errors)")
    }

    @Test func `a migration file that takes the database from its arguments is explained`() throws {
        let folder = try TestFolder(["steps/a.lua": "local db = ...\ndb:execute('CREATE TABLE a (b)')"])
        let errors = try folder.perilune("migrate", "steps", "--database", "x.sqlite").errors
        #expect(errors.contains("receives no database; return a function(db) that uses it\n  at steps/a.lua:2\n"), "\(errors)")
    }

    @Test func `the migration folder can be given, even with trailing slashes`() throws {
        let folder = try TestFolder(["db/steps/a.sql": "CREATE TABLE a (x)"])
        #expect(try folder.perilune("migrate", "db/steps//", "--database", "x.sqlite").status == 0)
        #expect(try tables(folder) == "n\na grdb_migrations\n")
    }

    @Test func `the last migration to apply can be chosen`() throws {
        let folder = try folder()
        let first = try folder.perilune("migrate", "--database", "x.sqlite", "--to", "0001_create")
        #expect(first.output.hasPrefix("{\"migration\":\"0001_create\",\"seconds\":"))
        #expect(!first.output.contains("0002"))
        let second = try folder.perilune("migrate", "--database", "x.sqlite")
        #expect(second.output.hasPrefix("{\"migration\":\"0002_pages\",\"seconds\":"))
        #expect(
            try folder.perilune("migrate", "--database", "x.sqlite", "--to", "0002_pages").errors
                == "nothing is pending\n")
    }

    @Test func `a misspelled target migration is wrong usage, and nothing is created`() throws {
        let folder = try folder()
        let result = try folder.perilune("migrate", "--database", "x.sqlite", "--to", "0002_page")
        #expect(result.status == 64)
        #expect(
            result.errors
                == "error: unknown migration 0002_page in migrations\n  help  did you mean `0002_pages`?\n")
        for number in ["2", "0002"] {
            let numbered = try folder.perilune("migrate", "--database", "x.sqlite", "--to", number)
            #expect(numbered.errors.hasSuffix("help  did you mean `0002_pages`?\n"), "\(numbered.errors)")
        }
        #expect(!folder.exists("x.sqlite"))
        #expect(
            try folder.perilune("migrate", "--database", "x.sqlite", "--to", "nothing").errors.contains(
                "available: 0001_create"))
    }

    @Test func `migrating to an earlier migration is refused`() throws {
        let result = try migrated().perilune("migrate", "--database", "x.sqlite", "--to", "0001_create")
        #expect(result.status == 1)
        #expect(result.errors.contains("the database cannot be migrated back to `0001_create`"))
        #expect(result.errors.contains("--down --to 0001_create undoes the migrations after it"))
    }

    // MARK: - Undoing

    private static let undoing = [
        "migrations/0002_pages.lua": """
        return {
          up = function(db) db:execute "ALTER TABLE book ADD COLUMN pages INTEGER" end,
          down = function(db) db:execute "ALTER TABLE book DROP COLUMN pages" end,
        }
        """,
        "migrations/0003_shelf.sql": "CREATE TABLE shelf (id INTEGER PRIMARY KEY);",
        "migrations/0003_shelf.down.sql": "DROP TABLE shelf;",
    ]

    @Test func `the last migration is undone after the database is copied`() throws {
        let folder = try migrated(Self.undoing)
        #expect(try folder.perilune("migrate", "--database", "x.sqlite", "--no-backup").status == 0)
        let result = try folder.perilune("migrate", "--database", "x.sqlite", "--down", "--format", "csv")
        #expect(result.status == 0)
        #expect(result.output == "migration,status\n0003_shelf,undone\n")
        #expect(result.errors == "copied the database to x.sqlite.before-undoing-0003_shelf.sqlite\n")
        #expect(try tables(folder) == "n\nbook grdb_migrations\n")
        #expect(try tables(folder, copies(folder)[0]) == "n\nbook grdb_migrations shelf\n")
    }

    @Test func `all migrations after a given one are undone, or none if one has no undo step`() throws {
        let folder = try migrated(Self.undoing)
        #expect(try folder.perilune("migrate", "--database", "x.sqlite", "--no-backup").status == 0)
        let dry = try folder.perilune("migrate", "--database", "x.sqlite", "--down", "--to", "0001_create", "--dry-run")
        #expect(dry.errors == "this was a dry run: x.sqlite is unchanged\n")
        let result = try folder.perilune(
            "migrate", "--database", "x.sqlite", "--down", "--to", "0001_create", "--no-backup", "--format", "csv")
        #expect(result.output == "migration,status\n0003_shelf,undone\n0002_pages,undone\n")
        let again = try folder.perilune("migrate", "--database", "x.sqlite", "--down", "--to", "0001_create")
        #expect((again.status, again.errors) == (0, "nothing to undo\n"))
        #expect(try folder.perilune("migrate", "--database", "x.sqlite", "--no-backup").status == 0)
        try folder.write("return function() end", to: "migrations/0002_pages.lua")
        let failed = try folder.perilune("migrate", "--database", "x.sqlite", "--down", "--to", "0001_create")
        #expect(failed.status == 1)
        #expect(failed.errors.contains("error: the migration `0002_pages` cannot be undone; add a `down`"))
        #expect(failed.errors.contains("nothing was undone\nthe database is unchanged, and the copy was removed"))
        #expect(try tables(folder) == "n\nbook grdb_migrations shelf\n")
        #expect(try copies(folder) == [])
    }

    @Test func `undoing is refused in previews and with contradictory options`() throws {
        let folder = try migrated(Self.undoing)
        #expect(try folder.perilune("migrate", "--database", "x.sqlite", "--down", "--context", "preview").status == 64)
        for option in ["--preview", "--status", "--check"] {
            let result = try folder.perilune("migrate", "--database", "x.sqlite", "--down", option)
            #expect(result.status == 64)
            #expect(result.errors.contains("--down cannot be combined with"))
        }
        let missing = try folder.perilune("migrate", "--database", "none.sqlite", "--down")
        #expect(missing.status == 74)
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/none.sqlite"))
    }

    @Test func `modules next to the migrations can be required`() throws {
        let folder = try TestFolder([
            "migrations/a.lua":
                "local names = require 'lib.names' return function(db) db:execute('CREATE TABLE ' .. names[1] .. ' (x)') end",
            "migrations/lib/names.lua": "return { 'found' }",
        ])
        #expect(try folder.perilune("migrate", "--database", "x.sqlite").status == 0)
        #expect(try tables(folder) == "n\nfound grdb_migrations\n")
    }

    // MARK: - Failures

    @Test func `a failure keeps the earlier migrations and shows its location`() throws {
        let folder = try migrated([
            "migrations/0003_index.sql": "CREATE INDEX by_title ON book (title);",
            "migrations/0004_fill.sql": "CREATE TABLE note (x);\n\nINSERT INTO book (titel)\n  VALUES ('x');\n",
            "migrations/0005_never.sql": "CREATE TABLE never (x);",
        ])
        let result = try folder.perilune("migrate", "--database", "x.sqlite")
        #expect(result.status == 1)
        #expect(result.output.hasPrefix("{\"migration\":\"0003_index\",\"seconds\":"))
        #expect(
            result.errors == """
                copied the database to x.sqlite.before-0003_index.sqlite
                0004_fill was rolled back; applied: 0003_index
                error: table book has no column named titel
                  at migrations/0004_fill.sql:3
                  3 | INSERT INTO book (titel)
                  SQL   INSERT INTO book (titel)
                          VALUES ('x');
                  help  did you mean `title`?  book has: id, title, pages

                """)
        #expect(try tables(folder) == "n\nbook grdb_migrations\n")
        let status = try folder.perilune("migrate", "--database", "x.sqlite", "--status", "--format", "csv")
        #expect(status.output.contains("0003_index,applied\n0004_fill,pending\n0005_never,pending\n"))
    }

    @Test func `a suggestion includes the columns that the failed migration has added`() throws {
        let folder = try migrated([
            "migrations/0003_label.sql": "ALTER TABLE book ADD COLUMN label TEXT;\nUPDATE book SET labl = title;\n"
        ])
        let result = try folder.perilune("migrate", "--database", "x.sqlite")
        #expect(result.status == 1)
        #expect(
            result.errors.hasSuffix("  help  did you mean `label`?  book has: id, title, pages, label\n"), "\(result.errors)")
    }

    @Test func `an SQL error in a migration is marked in the statement`() throws {
        let folder = try TestFolder(["migrations/a.sql": "CREATE TABLE a (x);\nCREATE TABLE b (y;\n"])
        let result = try folder.perilune("migrate", "--database", "x.sqlite")
        #expect(result.status == 1)
        #expect(result.errors.contains("  at migrations/a.sql:2\n"))
        #expect(result.errors.contains("CREATE TABLE b (y;\n"))
        #expect(result.errors.contains("^\n"))
    }

    @Test func `an error in a Lua migration shows its line`() throws {
        let folder = try TestFolder(["migrations/a.lua": "return function(db)\n  local t\n  t.x = 1\nend"])
        let result = try folder.perilune("migrate", "--database", "x.sqlite")
        #expect(result.status == 1)
        #expect(result.errors.contains("a was rolled back; nothing was applied\n"))
        #expect(result.errors.contains("  at migrations/a.lua:3\n  3 |   t.x = 1\n"))
    }

    @Test func `an error of a migration can be printed as JSON`() throws {
        let folder = try TestFolder(["migrations/a.sql": "SELECT nothing"])
        let result = try folder.perilune("migrate", "--database", "x.sqlite", "--error-format", "json")
        let line = try #require(result.errors.split(separator: "\n").last)
        let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        #expect(object?["kind"] as? String == "sql")
        #expect(object?["file"] as? String == "migrations/a.sql")
        #expect(object?["line"] as? Int == 1)
    }

    @Test func `a file with a syntax error is bad data, and nothing is created`() throws {
        let folder = try TestFolder(["migrations/a.lua": "return function(db)\n  db:execute(\nend"])
        let result = try folder.perilune("migrate", "--database", "x.sqlite")
        #expect(result.status == 65)
        #expect(result.errors.contains("at migrations/a.lua:3"))
        #expect(!folder.exists("x.sqlite"))
    }

    @Test func `a missing folder is an error`() throws {
        let folder = try TestFolder()
        let result = try folder.perilune("migrate", "--database", "x.sqlite")
        #expect((result.status, result.output) == (74, ""))
        #expect(result.errors == "error: cannot read the folder of migrations migrations: it does not exist\n")
        #expect(!folder.exists("x.sqlite"))
    }

    @Test func `a folder without migrations is reported`() throws {
        let folder = try TestFolder(["migrations/README.md": ""])
        let result = try folder.perilune("migrate", "--database", "x.sqlite")
        #expect((result.status, result.output, result.errors) == (0, "", "no migrations in migrations\n"))
        #expect(!folder.exists("x.sqlite"))
    }

    @Test func `mistakes in the migration folder are reported`() throws {
        let folder = try folder(["migrations/0002_pages.sql": "SELECT 1"])
        let result = try folder.perilune("migrate", "--database", "x.sqlite")
        #expect(result.status == 1)
        #expect(
            result.errors
                == "error: migrations: `0002_pages` exists twice, in Lua and in SQL; keep one of the files\n")
    }

    @Test func `a database that another process is writing to is busy`() throws {
        let folder = try migrated(["migrations/0003.sql": "CREATE TABLE x (y)"])
        try folder.write(
            """
            db:write(function(db)
              db:execute("CREATE TABLE t (a)")
              print("holding") io.stdout:flush()
              while true do os.time() end
            end)
            """, to: "hold.lua")
        let holder = try CommandProcess(
            TestFolder.binary, ["run", "hold.lua", "--database", "x.sqlite"], in: folder, isOutputRead: true)
        #expect(try holder.readLine() == "holding")
        let result = try folder.perilune("migrate", "--database", "x.sqlite")
        holder.interrupt()
        #expect(try holder.wait().status == 130)
        #expect(result.status == 75)
        #expect(result.errors.contains("nothing was applied\nthe database is unchanged, and the copy was removed\n"))
        #expect(result.errors.contains("\nerror: database is locked\n"))
    }

    @Test func `a file that is not a database is bad data`() throws {
        let folder = try folder(["x.sqlite": String(repeating: "no database ", count: 100)])
        #expect(try folder.perilune("migrate", "--database", "x.sqlite").status == 65)
        #expect(try copies(folder) == [])
    }

    @Test func `Ctrl-C rolls the migration back`() throws {
        let folder = try migrated([
            "migrations/0003.lua": """
            return function(db)
              db:execute("CREATE TABLE half (x)")
              print("running") io.stdout:flush()
              while true do os.time() end
            end
            """
        ])
        let process = try CommandProcess(
            TestFolder.binary, ["migrate", "--database", "x.sqlite"], in: folder, isOutputRead: true)
        #expect(try process.readLine() == "running")
        process.interrupt()
        let result = try process.wait()
        #expect(result.status == 130)
        #expect(try tables(folder) == "n\nbook grdb_migrations\n")
    }

    // MARK: - Status

    @Test func `a failed migration suggests the columns that it has added`() throws {
        let folder = try migrated([
            "migrations/0003.sql":
                "ALTER TABLE book ADD COLUMN label TEXT;\nALTER TABLE \"book\" ADD isbn;\nUPDATE book SET labl = 1;"
        ])
        let result = try folder.perilune("migrate", "--database", "x.sqlite")
        #expect(
            result.errors.contains("\n  help  did you mean `label`?  book has: id, title, pages, label, isbn\n"),
            "\(result.errors)")
    }

    @Test func `the status of each migration is shown`() throws {
        let folder = try migrated(["migrations/0003.sql": "SELECT 1"])
        try FileManager.default.removeItem(atPath: folder.path + "/migrations/0001_create.sql")
        let result = try folder.perilune("migrate", "--database", "x.sqlite", "--status", "--format", "table")
        #expect((result.status, result.errors) == (0, ""))
        #expect(
            result.output == """
                ┌─────────────┬─────────┐
                │ migration   │ status  │
                ├─────────────┼─────────┤
                │ 0002_pages  │ applied │
                │ 0003        │ pending │
                │ 0001_create │ unknown │
                └─────────────┴─────────┘

                """)
        let lines = try folder.perilune("migrate", "--database", "x.sqlite", "--status")
        #expect(lines.output.hasPrefix("{\"migration\":\"0002_pages\",\"status\":\"applied\"}\n"))
    }

    @Test func `pending migrations have their own exit status on request`() throws {
        let folder = try migrated()
        let done = try folder.perilune("migrate", "--database", "x.sqlite", "--check")
        #expect((done.status, done.output, done.errors) == (0, "", ""))
        try folder.write("CREATE TABLE c (x)", to: "migrations/0003.sql")
        let pending = try folder.perilune("migrate", "--database", "x.sqlite", "--check")
        #expect((pending.status, pending.output, pending.errors) == (2, "", "1 migration is pending: 0003\n"))
        let both = try folder.perilune("migrate", "--database", "x.sqlite", "--check", "--status", "--format", "csv")
        #expect(both.status == 2)
        #expect(both.output.hasSuffix("0003,pending\n"))
        #expect(try tables(folder) == "n\nbook grdb_migrations\n")
    }

    @Test func `applied migrations that are missing from the folder are reported`() throws {
        let folder = try migrated(["migrations/0003.sql": "SELECT 1"])
        try FileManager.default.removeItem(atPath: folder.path + "/migrations/0001_create.sql")
        let result = try folder.perilune("migrate", "--database", "x.sqlite", "--no-backup")
        #expect(result.status == 0)
        #expect(result.errors == "the database has applied migrations that are not in migrations: 0001_create\n")
    }

    // MARK: - Copies

    @Test func `a database with contents is copied before it is migrated`() throws {
        let folder = try migrated(["migrations/0003_x.sql": "DROP TABLE book"])
        let result = try folder.perilune("migrate", "--database", "x.sqlite")
        #expect(result.errors == "copied the database to x.sqlite.before-0003_x.sqlite\n")
        #expect(try tables(folder) == "n\ngrdb_migrations\n")
        #expect(try tables(folder, "x.sqlite.before-0003_x.sqlite") == "n\nbook grdb_migrations\n")
        #expect(!folder.exists("x.sqlite.before-0003_x.sqlite-wal"))
    }

    @Test func `a failure of the first migration mentions the table that it leaves`() throws {
        let folder = try TestFolder(["migrations/a.lua": "return function(db) error('no', 0) end"])
        #expect(try folder.perilune("run", "--database", "x.sqlite", "-e", "db:execute('CREATE TABLE t (x)')").status == 0)
        let first = try folder.perilune("migrate", "--database", "x.sqlite")
        let notes = "a was rolled back; nothing was applied\nthe database is unchanged"
        #expect(
            first.errors.contains(
                "\(notes), except for the empty table grdb_migrations of applied migrations, and the copy was removed\n"),
            "\(first.errors)")
        #expect(try tables(folder) == "n\ngrdb_migrations t\n")
        let second = try folder.perilune("migrate", "--database", "x.sqlite")
        #expect(second.errors.contains("\(notes), and the copy was removed\n"), "\(second.errors)")
    }

    @Test func `the copy is removed if nothing was applied, and kept otherwise`() throws {
        let folder = try migrated(["migrations/0003_x.sql": "CREATE TABLE c (x); DROP TABLE book; SELECT nothing"])
        for _ in 1...2 {
            let result = try folder.perilune("migrate", "--database", "x.sqlite")
            #expect(result.status == 1)
            #expect(
                result.errors.hasPrefix(
                    """
                    copied the database to x.sqlite.before-0003_x.sqlite
                    0003_x was rolled back; nothing was applied
                    the database is unchanged, and the copy was removed

                    """))
            #expect(try copies(folder) == [])
        }
        try folder.write("CREATE TABLE c (x)", to: "migrations/0003_x.sql")
        try folder.write("SELECT nothing", to: "migrations/0004_y.sql")
        let result = try folder.perilune("migrate", "--database", "x.sqlite")
        #expect(result.status == 1)
        #expect(result.errors.contains("0004_y was rolled back; applied: 0003_x\n"))
        #expect(try copies(folder) == ["x.sqlite.before-0003_x.sqlite"])
    }

    @Test func `the copy of a WAL database includes its log`() throws {
        let folder = try migrated(["migrations/0003.sql": "SELECT 1"])
        try folder.write(
            """
            db:execute("PRAGMA journal_mode = WAL")
            db:execute("INSERT INTO book (title) VALUES ('in the log')")
            local status = os.execute('"$PERILUNE" migrate --database x.sqlite 2> errors.txt > output.txt')
            print(status)
            """, to: "wal.lua")
        let result = try folder.shell("$PERILUNE run wal.lua --database x.sqlite")
        #expect(result.output == "true\n", "\(result.errors)")
        let copied = try folder.perilune(
            "query", "--database", "x.sqlite.before-0003.sqlite", "--format", "csv", "SELECT title FROM book")
        #expect(copied.output == "title\nin the log\n")
    }

    @Test func `no copy is made of an empty database or if copies are switched off`() throws {
        let folder = try folder(["x.sqlite": ""])
        let empty = try folder.perilune("migrate", "--database", "x.sqlite", "--to", "0001_create")
        #expect((empty.status, empty.errors) == (0, ""))
        let unwanted = try folder.perilune("migrate", "--database", "x.sqlite", "--no-backup")
        #expect((unwanted.status, unwanted.errors) == (0, ""))
        #expect(try copies(folder) == [])
    }

    @Test func `a dry run of migrate changes nothing`() throws {
        let folder = try migrated(["migrations/0003_x.sql": "CREATE TABLE c (x)"])
        let result = try folder.perilune("migrate", "--database", "x.sqlite", "--dry-run")
        #expect(result.status == 0)
        #expect(result.output.hasPrefix("{\"migration\":\"0003_x\",\"seconds\":"))
        #expect(result.errors == "this was a dry run: x.sqlite is unchanged\n")
        #expect(try tables(folder) == "n\nbook grdb_migrations\n")
        #expect(try copies(folder) == [])
        let new = try folder.perilune("migrate", "--database", "new.sqlite", "--dry-run")
        #expect(new.status == 0)
        #expect(!folder.exists("new.sqlite"))
        try folder.write("SELECT nothing", to: "migrations/0004_y.sql")
        let failed = try folder.perilune("migrate", "--database", "x.sqlite", "--dry-run")
        #expect(failed.status == 1)
        #expect(failed.errors.hasPrefix("0004_y was rolled back; applied: 0003_x\nthis was a dry run"))
    }

    // MARK: - Previews

    @Test func `a preview shows what pending migrations would change, and changes nothing`() throws {
        let folder = try migrated([
            "migrations/0003_isbn.lua": """
            return function(db)
              db:alter_table("book", function(t) t:add_column("isbn", "text") end)
              db:create_index("book", { "isbn" })
            end
            """,
            "migrations/0004_fill.sql": "UPDATE book SET pages = 326 WHERE title = 'Typee'",
        ])
        try folder.write("db:execute[[INSERT INTO book (title) VALUES ('Typee'), ('Omoo')]]", to: "fill.lua")
        try #require(folder.perilune("run", "fill.lua", "--database", "x.sqlite").status == 0)
        let before = try Data(contentsOf: URL(filePath: folder.path + "/x.sqlite"))
        let result = try folder.perilune("migrate", "--database", "x.sqlite", "--preview")
        #expect((result.status, result.errors) == (0, ""))
        #expect(
            result.output == """
                Would run 0003_isbn, 0004_fill
                Would change in x.sqlite: 1 row updated, 2 objects of the schema

                book  ~1
                  ┌───┬────┬────────────┬───────┬──────┐
                  │   │ id │      pages │ title │ isbn │
                  ├───┼────┼────────────┼───────┼──────┤
                  │ ~ │  1 │ NULL → 326 │ Typee │ NULL │
                  └───┴────┴────────────┴───────┴──────┘

                schema
                  ~ table book
                      - CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT NOT NULL, pages INTEGER)
                      + CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT NOT NULL, pages INTEGER, "isbn" TEXT)
                  + index book_on_isbn on book

                """)
        #expect(try Data(contentsOf: URL(filePath: folder.path + "/x.sqlite")) == before)
        #expect(try copies(folder) == [])
        let first = try folder.perilune("migrate", "--database", "x.sqlite", "--preview", "--to", "0003_isbn")
        #expect(first.output.hasPrefix("Would run 0003_isbn\nWould change in x.sqlite: 2 objects of the schema\n"))
    }

    @Test func `a preview of migrations can be printed as JSON`() throws {
        let folder = try migrated([
            "migrations/0003.lua": "return function(db) print('hello') db:execute('CREATE TABLE c (x)') end"
        ])
        let result = try folder.perilune("migrate", "--database", "x.sqlite", "--preview", "--format", "json")
        #expect((result.status, result.errors) == (0, "hello\n"))
        let object = try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any]
        let schema = try #require(object?["schema"] as? [[String: Any]])
        #expect(schema.map { $0["name"] as? String } == ["c"])
        #expect((object?["tables"] as? [Any])?.isEmpty == true)
    }

    @Test func `the JSON report of a failed migration has a warning`() throws {
        let folder = try migrated(["migrations/0003_wrong.sql": "CREATE nonsense"])
        let result = try folder.perilune("migrate", "--database", "x.sqlite", "--preview", "--format", "json")
        #expect(result.status == 1)
        let object = try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any]
        #expect(object?["warnings"] as? [String] == ["a migration failed; these are the changes until then"])
        #expect((object?["obstacles"] as? [Any])?.isEmpty == true)
    }

    @Test func `a preview of migrations starts with an empty database if the file is missing`() throws {
        let folder = try folder()
        let result = try folder.perilune("migrate", "--database", "x.sqlite", "--preview")
        #expect(result.status == 0)
        #expect(
            result.output == """
                Would run 0001_create, 0002_pages
                Would change in x.sqlite: 1 object of the schema

                schema
                  + table book

                """)
        #expect(!folder.exists("x.sqlite"))
    }

    @Test func `a preview reports that nothing is pending, and a failed one shows the changes until then`() throws {
        let folder = try migrated()
        let nothing = try folder.perilune("migrate", "--database", "x.sqlite", "--preview")
        #expect((nothing.status, nothing.output, nothing.errors) == (0, "", "nothing is pending\n"))
        try folder.write("CREATE TABLE c (x)", to: "migrations/0003.sql")
        try folder.write("CREATE TABLE d (x); UPDATE bok SET pages = 1", to: "migrations/0004.sql")
        let failed = try folder.perilune("migrate", "--database", "x.sqlite", "--preview")
        #expect(failed.status == 1)
        #expect(
            failed.output == """
                Would run 0003, 0004
                Before one failed, the migrations would have changed in x.sqlite: 1 object of the schema

                schema
                  + table c

                """)
        #expect(failed.errors.hasPrefix("0004 was rolled back; applied: 0003\nerror: no such table: bok\n"))
        #expect(try tables(folder) == "n\nbook grdb_migrations\n")
    }

    // MARK: - Usage

    @Test(arguments: [
        [], ["--database", ":memory:"], ["--database", ""], ["", "--database", "x.sqlite"],
        ["--database", "x.sqlite", "--to", ""], ["--database", "x.sqlite", "--dry-run", "--check"],
        ["--database", "x.sqlite", "--preview", "--status"], ["--database", "x.sqlite", "--preview", "--format", "csv"],
    ])
    func `wrong usage of the migrate command is reported`(arguments: [String]) throws {
        let folder = try folder()
        let result = try CommandProcess(TestFolder.binary, ["migrate"] + arguments, in: folder).wait()
        #expect(result.status == 64)
        #expect(result.errors.hasPrefix("error: "))
        #expect(!folder.exists("x.sqlite"))
    }

    @Test func `mistakes on the command line are reported with suggestions`() throws {
        let folder = try migrated()
        let misspelt = try folder.perilune("migrate", "--databse", "x.sqlite")
        #expect(misspelt.status == 64)
        #expect(misspelt.errors.hasPrefix("error: Unknown option '--databse'. Did you mean '--database'?\n"))
        let misplaced = try folder.perilune("migrate", "x.sqlite")
        #expect(misplaced.status == 64)
        #expect(
            misplaced.errors.hasPrefix(
                "error: expected --database with the path of a file: did you mean `perilune migrate --database x.sqlite`?\n"))
    }

    @Test(arguments: [
        (["status"], "use `perilune migrate --status`"), (["rollback"], "use `perilune migrate --down`"),
        (["up"], "use `perilune migrate`"), (["0002_page"], "did you mean `perilune migrate --to 0002_pages`?"),
        (["--down", "0001_create"], "did you mean `perilune migrate --down --to 0001_create`?"),
        (["--down", "2"], "--down undoes the last migration; with --to NAME, all that come after NAME"),
    ])
    func `a word that is not meant as the folder is reported with the call to use`(words: [String], help: String) throws {
        let folder = try migrated()
        let result = try CommandProcess(TestFolder.binary, ["migrate", "--database", "x.sqlite"] + words, in: folder).wait()
        #expect(result.status == 74 && result.errors.hasPrefix("error: cannot read the folder of migrations "))
        #expect(result.errors.hasSuffix("\n  help  \(help)\n"), "\(result.errors)")
    }

    @Test func `options and subcommands of other migration tools are refused, and the errors name the replacement`() throws {
        let folder = try migrated()
        let version = try folder.perilune("migrate", "--version", "0001_create", "--database", "x.sqlite")
        #expect((version.status, version.output) == (64, ""))
        #expect(version.errors == "error: unknown option --version\n  help  use `--to`\n")
        #expect(try folder.perilune("migrate", "--version").status == 0)
        let new = try folder.perilune("migrate", "generate", "x", "--database", "x.sqlite")
        #expect(new.errors.hasPrefix("error: Unexpected argument 'x'. Use 'perilune migrate new NAME'\n"), "\(new.errors)")
    }

    @Test(arguments: ["_down.sql", "-down.lua"])
    func `a migration with the name of another one and the suffix down is refused`(ending: String) throws {
        let folder = try folder(["migrations/0001_create\(ending)": "DROP TABLE book"])
        let result = try folder.perilune("migrate", "--database", "x.sqlite")
        #expect(result.status == 1)
        #expect(
            result.errors.hasPrefix(
                "error: migrations: `0001_create\(ending.prefix(5))` would run after `0001_create`, as a migration of its own; "),
            "\(result.errors)")
        #expect(!folder.exists("x.sqlite"))
    }

    @Test func `a check fails if the folder lacks an applied migration`() throws {
        let folder = try migrated()
        try FileManager.default.removeItem(atPath: folder.path + "/migrations/0002_pages.lua")
        let result = try folder.perilune("migrate", "--database", "x.sqlite", "--check")
        #expect(result.status == 1)
        #expect(result.errors == "the database has applied migrations that are not in migrations: 0002_pages\n")
    }

    @Test func `the database and the folder in use are shown on request`() throws {
        let result = try migrated().perilune("migrate", "--database", "x.sqlite", "--verbose")
        #expect(result.errors == "database: x.sqlite (--database)\nmigrations: migrations\nnothing is pending\n")
    }

    // MARK: - Databases that are not there

    @Test func `a missing database has no applied migrations, and --status and --check do not create it`() throws {
        let folder = try TestFolder(["migrations/1_a.sql": "CREATE TABLE a (x)", "migrations/2_b.sql": "CREATE TABLE b (x)"])
        var result = try folder.perilune("migrate", "--database", "none.sqlite", "--status", "--format", "csv")
        #expect(result.status == 0)
        #expect(result.output == "migration,status\n1_a,pending\n2_b,pending\n")
        #expect(result.errors == "the database none.sqlite does not exist; `perilune migrate` creates it\n")
        result = try folder.perilune("migrate", "--database", "none.sqlite", "--check")
        #expect(result.status == 2)
        #expect(result.errors.contains("2 migrations are pending: 1_a, 2_b"))
        #expect(!folder.exists("none.sqlite"))
    }

    @Test func `failed migrations do not create a database`() throws {
        let folder = try TestFolder(["migrations/1_a.sql": "CREATE TABLE a (x", "migrations/2_b.sql": "CREATE TABLE b (x)"])
        var result = try folder.perilune("migrate", "--database", "new.sqlite")
        #expect(result.status == 1)
        #expect(!result.errors.contains("created the database"))
        for suffix in ["", "-wal", "-shm", "-journal"] { #expect(!folder.exists("new.sqlite" + suffix)) }
        // Earlier migrations are kept.
        try folder.write("CREATE TABLE a (x)", to: "migrations/1_a.sql")
        try folder.write("CREATE TABLE b (x", to: "migrations/2_b.sql")
        result = try folder.perilune("migrate", "--database", "new.sqlite")
        #expect(result.status == 1)
        #expect(result.errors.contains("created the database new.sqlite"))
        #expect(folder.exists("new.sqlite"))
    }

    @Test func `a migration that was edited after it ran is reported and fails the check`() throws {
        let folder = try TestFolder(["migrations/1_a.sql": "CREATE TABLE a (x)"])
        #expect(try folder.perilune("migrate", "--database", "x.sqlite").status == 0)
        #expect(try folder.perilune("migrate", "--database", "x.sqlite", "--check").status == 0)
        try folder.write("CREATE TABLE a (x, y)", to: "migrations/1_a.sql")
        var result = try folder.perilune("migrate", "--database", "x.sqlite", "--status", "--format", "csv")
        #expect(result.output == "migration,status\n1_a,edited\n")
        result = try folder.perilune("migrate", "--database", "x.sqlite", "--check")
        #expect(result.status == 1)
        #expect(
            result.errors == """
                1 migration is not as applied, because a file was edited: 1_a; restore the file, and put the change in a new migration

                """)
        result = try folder.perilune("migrate", "--database", "x.sqlite")
        #expect(result.status == 0)
        #expect(result.errors.contains("1_a; restore the file"))
    }
}
