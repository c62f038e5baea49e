import Foundation
import PeriluneTestTools
import Testing

@testable import PeriluneCLI

/// Thirty common database tasks for which people use `sqlite3`, `sqlite-utils`, `duckdb`, `dbmate` or a Lua prompt, each as one
/// shell command.
@Suite(.patience, .startsPrograms) struct TaskTests {
    /// A task, the command that performs it, and its output.
    struct Task: CustomTestStringConvertible {
        let title: String
        let line: String
        let shown: String

        init(_ title: String, _ line: String, _ shown: String) { (self.title, self.line, self.shown) = (title, line, shown) }

        var testDescription: String { title }
    }

    /// A project with a database, named in its settings.
    private static func makeFolder() throws -> TestFolder {
        let folder = try TestFolder([
            "perilune.toml": "database = \"shop.sqlite\"",
            "migrations/0001_start.sql": """
            CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT NOT NULL, country TEXT);
            CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT, author_id INTEGER REFERENCES author);
            INSERT INTO author VALUES (1, 'Herman Melville', 'US'), (2, '夏目漱石', '日本');
            INSERT INTO book VALUES (1, 'Typee', 1), (2, 'こころ', 2), (3, NULL, NULL);
            """,
            "migrations/0001_start.down.sql": "DROP TABLE book; DROP TABLE author;",
            "authors.csv": "id,name,country\n3,Émile Zola,France\n4,\"O'Brien, Flann\",\n",
            "scenarios/book_scenario.lua":
                "scenario('books', function(t) check(t.db:fetch_value('SELECT count(*) FROM book') == 3) end)",
            "report.lua": "for row in db:rows('SELECT name FROM author ORDER BY id') do print(row.name) end",
        ])
        try Data("name\ncaf\u{E9}\n".unicodeScalars.map { UInt8($0.value) }).write(
            to: URL(fileURLWithPath: folder.path + "/latin.csv"))
        let migrated = try folder.perilune("migrate")
        try #require(migrated.status == 0, "\(migrated.errors)")
        return folder
    }

    static let tasks: [Task] = [
        Task(
            "a query as lines of JSON in a pipe", "$PERILUNE query 'SELECT id, name FROM author' | head -n 1",
            #"{"id":1,"name":"Herman Melville"}"#),
        Task(
            "a query as a table, wide letters in line", "$PERILUNE query --format table 'SELECT name, id FROM author'",
            "│ 夏目漱石        │  2 │"),
        Task("a query as CSV", "$PERILUNE query --format csv 'SELECT * FROM book'", "3,,\n"),
        Task("a query as TSV", "$PERILUNE query --format tsv 'SELECT * FROM book'", "1\tTypee\t1\n"),
        Task("a query as JSON", "$PERILUNE query --format json 'SELECT count(*) AS n FROM book'", "[{\"n\":3}]"),
        Task("a query as Markdown", "$PERILUNE query --format markdown 'SELECT id FROM author'", "|  id |\n| --: |\n"),
        Task("a query as HTML", "$PERILUNE query --format html 'SELECT name FROM author'", "<td>Herman Melville</td>"),
        Task(
            "a query as INSERT", "$PERILUNE query --format insert --table copy 'SELECT id FROM author'",
            "INSERT INTO \"copy\" (\"id\") VALUES (1);"),
        Task(
            "a query into a file whose name says how", "$PERILUNE query --output out.csv 'SELECT id FROM author'; cat out.csv",
            "id\n1\n2\n"),
        Task(
            "a value by a parameter", "$PERILUNE query --format csv 'SELECT name FROM author WHERE id = :id' -p id=1",
            "Herman Melville"),
        Task("a statement from a pipe", "echo 'SELECT 6 * 7 AS n' | $PERILUNE query -", "{\"n\":42}"),
        Task(
            "a change that is meant",
            "$PERILUNE query --write 'UPDATE book SET title = 1 WHERE id = 3'; $PERILUNE query 'SELECT title FROM book WHERE id = 3'",
            "\"1\""),
        Task(
            "a change that is not meant is refused", "$PERILUNE query 'DELETE FROM book' 2>&1; true",
            "pass --write to let the statement change the database"),
        Task(
            "a thousand rows through a pipe that closes",
            "$PERILUNE query 'WITH RECURSIVE c(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM c) SELECT n FROM c' | head -n 2",
            "{\"n\":2}"),
        Task("a one-liner in Lua", "$PERILUNE run -e 'db:fetch_value(\"SELECT count(*) FROM author\") + 40'", "42"),
        Task("a script", "$PERILUNE run report.lua", "Herman Melville\n夏目漱石\n"),
        Task("a script from a pipe", "$PERILUNE run - < report.lua", "夏目漱石"),
        Task(
            "what a script would change", "$PERILUNE run --preview -e 'db:execute(\"DELETE FROM book WHERE id = 3\")'",
            "Would change in shop.sqlite: 1 row deleted"),
        Task(
            "rows of a CSV file",
            "$PERILUNE import authors.csv --table author; $PERILUNE query --format csv 'SELECT name FROM author WHERE id > 2'",
            "Émile Zola\n\"O'Brien, Flann\"\n"),
        Task(
            "rows of a file that is not UTF-8, into a new table",
            "$PERILUNE import latin.csv --table place --create; $PERILUNE query 'SELECT * FROM place'", "{\"name\":\"café\"}"),
        Task(
            "the schema as SQL", "$PERILUNE schema book",
            "CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT, author_id INTEGER REFERENCES author);"),
        Task("the schema as a diagram", "$PERILUNE schema --format diagram", "author |o--o{ book : \"author_id\""),
        Task(
            "the schema as a picture", "$PERILUNE schema --output schema.svg; cat schema.svg",
            "<title>book (author_id) → author</title>"),
        Task(
            "a dump that makes the database again",
            "$PERILUNE dump | grep -v 'TRANSACTION;\\|COMMIT;' > all.sql && $PERILUNE run --database copy.sqlite -e 'db:execute(io.open(\"all.sql\"):read(\"a\"))' && $PERILUNE query --database copy.sqlite 'SELECT count(*) AS n FROM author'",
            "{\"n\":2}"),
        Task("a chart", "$PERILUNE chart 'SELECT name, id FROM author'", "Herman Melville │"),
        Task(
            "which migrations are pending",
            "$PERILUNE migrate new add_prices > /dev/null; $PERILUNE migrate --status --format csv", "0002_add_prices,pending"),
        Task(
            "a migration that is taken back", "$PERILUNE migrate --down --no-backup; $PERILUNE migrate --status --format csv",
            "0001_start,pending"),
        Task("tests", "$PERILUNE test", "1 passed"),
        Task("the faults of a database", "$PERILUNE doctor --format json", "\"verdict\":\"ok\""),
        Task(
            "a statement at a time", "printf 'SELECT count(*) AS n FROM book;\\nAuthor:fetch_count()\\n' | $PERILUNE console", "2"
        ),
        Task("where a setting comes from", "$PERILUNE settings --format csv", "database,shop.sqlite,perilune.toml:1"),
        Task("help on a function", "$PERILUNE help db:fetch_all", "db:fetch_all(sql, ...)"),
        Task("what a script can call, for editors", "$PERILUNE types && head -c 4000 types/perilune.d.lua", "---@meta"),
        Task("a manual page", "$PERILUNE manual man && cat man/perilune-query.1", ".SH SYNOPSIS"),
        Task("names for the shell", "$PERILUNE completion bash", "_perilune()"),
    ]

    @Test(arguments: tasks) func `each common task takes one command`(task: Task) throws {
        let result = try Self.makeFolder().shell(task.line)
        #expect(result.output.contains(task.shown), "\(task.line)\n\(result.output)\(result.errors)")
        #expect(result.status == 0, "\(task.line)\n\(result.errors)")
    }

    @Test func `a new project is tested, migrated, filled and inspected`() throws {
        let folder = try TestFolder()
        let lines =
            "$PERILUNE init && $PERILUNE test && $PERILUNE migrate && $PERILUNE run scripts/add_task.lua 'Write the report'"
        let result = try folder.shell("\(lines) && echo 'Task:fetch_count()' | $PERILUNE console && $PERILUNE types --help")
        #expect(result.status == 0 && result.output.contains("1\tWrite the report\n"), "\(result.output)\(result.errors)")
    }
}
