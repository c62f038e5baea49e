import Testing

@testable import PeriluneRecords

@Suite struct SQLScreeningTests {
    private func screen(_ sql: String) -> SQLScreening { Array(sql.utf8).withUnsafeBufferPointer(SQLScreening.init) }

    @Test(
        arguments: [
            ("", .empty), (" ;; -- x\n /* y */ ;", .empty), ("\u{FEFF}", .empty),
            ("SELECT 1", .read), ("values (1)", .read), (";; select 1", .read), ("/* x */ SeLeCt 1", .read),
            ("\u{FEFF}SELECT 1", .read),
            ("EXPLAIN INSERT INTO t VALUES (1)", .read), ("explain query plan DELETE FROM t", .read),
            ("INSERT INTO t VALUES (1)", .insert), ("replace into t values (1)", .insert), ("UPDATE t SET a = 1", .change),
            ("DELETE FROM t", .change),
            ("WITH a AS (SELECT 1) SELECT * FROM a", .read),
            ("WITH a(x) AS (SELECT 1), b AS (SELECT 2) INSERT INTO t SELECT 1", .insert),
            ("WITH RECURSIVE a(x) AS NOT MATERIALIZED (SELECT 1) DELETE FROM t", .change),
            ("WITH a AS (SELECT 1) VALUES (1)", .read),
            ("WITH a AS (SELECT 1) SELECT replace(x, 'a', 'b') FROM a", .read),
            ("WITH replace AS (SELECT 1) SELECT * FROM replace", .read),
            ("WITH a AS (SELECT ')') UPDATE t SET a = 1", .change),
            ("WITH a AS (SELECT $a(')) INSERT INTO t VALUES (1) --'))", .insert),
            ("BEGIN", .control), ("commit", .control), ("END", .control), ("ROLLBACK TO a", .control), ("SAVEPOINT a", .control),
            ("release a", .control),
            ("CREATE TABLE t (a)", .other), ("VACUUM", .other), ("ANALYZE", .other), ("(SELECT 1)", .other), ("'SELECT'", .other),
            ("\"begin\"", .other),
        ] as [(String, SQLScreening.Kind)])
    func `the first word of a statement determines its kind`(_ sql: String, _ kind: SQLScreening.Kind) {
        #expect(screen(sql).kind == kind)
    }

    @Test(
        arguments: [
            ("PRAGMA query_only = 1", .forbidden), ("pragma main.query_only=1", .forbidden), ("PRAGMA query_only(1)", .forbidden),
            ("PRAGMA query_only == 1", .forbidden), ("PRAGMA/**/\"main\"/**/./**/'query_only'--\n=1", .forbidden),
            ("PRAGMA [query_only] = 1", .forbidden),
            ("PRAGMA `writable_schema`=1", .forbidden), ("EXPLAIN PRAGMA mmap_size = 1", .forbidden),
            ("EXPLAIN QUERY PLAN PRAGMA busy_timeout(0)", .forbidden),
            ("PRAGMA hard_heap_limit=1", .forbidden), ("PRAGMA soft_heap_limit=1", .forbidden), ("PRAGMA query_only", .files),
            ("PRAGMA case_sensitive_like = 1", .functions), ("PRAGMA main.case_sensitive_like(ON)", .functions),
            ("PRAGMA case_sensitive_like", .other), ("EXPLAIN PRAGMA case_sensitive_like = 1", .functions),
            ("PRAGMA temp_store = 2", .memory), ("PRAGMA temp_store", .other), ("PRAGMA temp_store_directory = '/'", .files),
            ("PRAGMA table_info(t)", .other), ("PRAGMA foreign_keys = ON", .other), ("PRAGMA journal_mode", .files),
            ("PRAGMA x", .files),
            ("PRAGMA", .files), ("PRAGMA main.", .files), ("PRAGMA \"query\"\"_only\" = 1", .files),
            ("PRAGMA table_info = query_only", .other),
            ("ATTACH 'x.db' AS x", .files), ("DETACH x", .files), ("VACUUM INTO 'x.db'", .files),
            ("VACUUM main INTO 'x.db'", .files),
            ("VACUUM 'into'", .other), ("VACUUM /* into */", .other), ("EXPLAIN VACUUM INTO 'x'", .files),
        ] as [(String, SQLScreening.Kind)])
    func `statements that reach beyond the database are detected in every spelling`(
        _ sql: String, _ kind: SQLScreening.Kind
    ) {
        #expect(screen(sql).kind == kind)
    }

    @Test(arguments: [
        ("ATTACH ':memory:' AS x", false), ("attach database ':memory:' as x", false), ("ATTACH \":memory:\" AS x", true),
        ("ATTACH '' AS x", true),
        ("ATTACH ':memory:' || 'x' AS x", true), ("ATTACH ? AS x", true), ("ATTACH", true), ("VACUUM INTO 'x'", true),
        ("VACUUM", false),
        ("SELECT 1", false),
    ])
    func `statements that open a file are detected`(_ sql: String, _ opens: Bool) {
        #expect(screen(sql).opensFile == opens)
    }

    @Test(arguments: [
        ("SELECT last_insert_rowid()", true, true), ("SELECT \"last_insert_rowid\"()", true, true),
        ("SELECT changes()", true, false),
        ("SELECT * FROM temp.t", true, false), ("SELECT * FROM 'temp'.t", true, false), ("SELECT 'x temp'", false, false),
        ("SELECT 1 -- changes", false, false), ("SELECT unchanges", false, false), ("SELECT 1; SELECT changes()", false, false),
    ])
    func `statements that depend on the connection are detected`(_ sql: String, _ depends: Bool, _ readsRowID: Bool) {
        let screening = screen(sql)
        #expect(screening.dependsOnConnection == depends && screening.readsRowID == readsRowID)
    }

    @Test func `statements that create temporary tables are detected`() {
        #expect(screen("CREATE TEMP TABLE t (a)").isTemporary && screen("create temporary view v as select 1").isTemporary)
        #expect(!screen("CREATE TABLE temp (a)").isTemporary && !screen("CREATE").isTemporary)
    }

    @Test func `the words of a statement for messages are extracted`() {
        #expect(screen("insert into t values (1)").words == "INSERT")
        #expect(screen("pragma main . Query_Only = 1").words == "PRAGMA Query_Only")
        #expect(screen("explain pragma x").words == "PRAGMA x")
    }

    @Test(arguments: [
        ("INSERT INTO t VALUES (1)", true), ("SELECT 1", false), ("SELECT 1; DELETE FROM t", true), ("SELECT 'a; DELETE'", false),
        ("", false),
        ("BEGIN; DELETE FROM t; COMMIT", false), ("DELETE FROM t; PRAGMA foreign_keys = 1", false),
        ("WITH a AS (SELECT 1) UPDATE t SET a = 1", true),
        ("CREATE TRIGGER x AFTER INSERT ON t BEGIN DELETE FROM a; END", false),
        ("CREATE TEMP TRIGGER x AFTER INSERT ON t BEGIN SELECT CASE 1 WHEN 1 THEN 2 END; END; INSERT INTO t VALUES (1)", true),
        ("EXPLAIN DELETE FROM t", false), (";;DELETE FROM t", true),
    ])
    func `SQL texts that change rows are detected`(_ sql: String, _ changes: Bool) {
        #expect(Array(sql.utf8).withUnsafeBufferPointer(SQLScreening.changesRows) == changes)
    }

    @Test(
        arguments: [
            ("SAVEPOINT a", .begin("a")), ("savepoint \"a \"\"b\"", .begin("a \"b")), ("RELEASE a;", .release("a")),
            ("RELEASE SAVEPOINT 'x y' -- z", .release("x y")),
            ("ROLLBACK TO a", .rollBack(to: "a")), ("/* x */ rollback transaction to savepoint [a]", .rollBack(to: "a")),
            ("ROLLBACK", nil),
            ("ROLLBACK TRANSACTION", nil), ("ROLLBACK TO to", .rollBack(to: "to")), ("SAVEPOINT savepoint", .begin("savepoint")),
            ("SELECT a", nil), ("", nil),
            ("SAVEPOINT a/**/;SAVEPOINT b", .begin("a")), ("ROLLBACK TO\u{C}a", .rollBack(to: "a")),
            ("SAVEPOINT a-- b\n", .begin("a")),
        ] as [(String, SavepointCommand?)])
    func `savepoint commands are parsed`(_ sql: String, _ command: SavepointCommand?) {
        #expect(Array(sql.utf8).withUnsafeBufferPointer(SavepointCommand.init) == command)
    }

    @Test(arguments: [(" \n-- a\n/* b */SELECT", 14), ("SELECT", 0), ("  ", 2), ("", 0), (" ;", 1)])
    func `the length of leading whitespace and comments is measured`(_ sql: String, _ length: Int) {
        #expect(Array(sql.utf8).withUnsafeBufferPointer(SQLScreening.blankLength) == length)
    }
}
