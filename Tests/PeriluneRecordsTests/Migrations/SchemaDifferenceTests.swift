import GRDB
import PeriluneRecords
import Testing

@Suite struct SchemaDifferenceTests {
    private func contents(_ sql: String) throws -> SchemaContents {
        let queue = try DatabaseQueue()
        return try queue.write { db in
            try db.execute(sql: sql)
            return try SchemaContents(db)
        }
    }

    private func differences(_ actual: String, _ expected: String) throws -> [String] {
        try contents(actual).differences(from: contents(expected)).map(\.description)
    }

    @Test func `schemas with the same objects in any order have no differences`() throws {
        let one = "CREATE TABLE a (x); CREATE TABLE b (y); CREATE INDEX i ON a (x)"
        let other = "CREATE TABLE b (y); CREATE TABLE a (x); CREATE INDEX i ON a (x)"
        #expect(try differences(one, other) == [])
    }

    @Test func `schema differences leave out internal SQLite and GRDB objects`() throws {
        let sql =
            "CREATE TABLE a (id INTEGER PRIMARY KEY AUTOINCREMENT); CREATE TABLE grdb_migrations (x); INSERT INTO a VALUES (1); ANALYZE"
        #expect(try contents(sql).objects.map(\.name) == ["a"])
    }

    @Test(arguments: [
        ("CREATE TABLE a (x)", "", ["added: table a"]),
        ("", "CREATE TABLE a (x)", ["missing: table a"]),
        ("CREATE TABLE a (x, y)", "CREATE TABLE a (x)", ["added: column a.y"]),
        ("CREATE TABLE a (x)", "CREATE TABLE a (x, y)", ["missing: column a.y"]),
        ("CREATE TABLE a (x INT)", "CREATE TABLE a (x)", ["changed: column a.x (no type in the migrations, INT here)"]),
        (
            "CREATE TABLE a (x INT PRIMARY KEY)", "CREATE TABLE a (x INT NOT NULL)",
            ["changed: column a.x (INT NOT NULL in the migrations, INT PRIMARY KEY here)"]
        ),
        ("CREATE TABLE a (x, UNIQUE (x))", "CREATE TABLE a (x)", ["changed: table a (its SQL differs)"]),
        (
            "CREATE TABLE a (x, y AS (x + 1))", "CREATE TABLE a (x, y)",
            ["changed: column a.y (no type in the migrations, GENERATED here)"]
        ),
        ("CREATE VIEW v AS SELECT 1", "CREATE VIEW v AS SELECT 2", ["changed: view v (its SQL differs)"]),
        (
            "CREATE TABLE a (x); CREATE INDEX i ON a (x)",
            "CREATE TABLE a (x); CREATE TRIGGER i DELETE ON a BEGIN SELECT 1; END",
            ["missing: trigger i", "added: index i"]
        ),
    ])
    func `each kind of schema difference is reported`(actual: String, expected: String, differences: [String]) throws {
        #expect(try self.differences(actual, expected) == differences)
    }
}
