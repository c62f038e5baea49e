import Foundation
import GRDB
import Perilune
import PeriluneDependencies
import Testing

@Suite struct SQLEnvironmentTests {
    /// 2026-03-01 12:34:56.789 UTC.
    static let moment = Date(timeIntervalSince1970: 1_772_368_496.789)

    /// Runs an operation with a database whose clock is stopped at ``moment``.
    private func withDatabase(_ operation: nonisolated(nonsending) (any DatabaseWriter) async throws -> Void) async throws {
        try await DependencyContainer.withTestScope {
            try await DependencyContainer.prepare {
                $0.date = .constant(Self.moment)
                $0.defaultDatabase = .inMemory()
            }
            try await operation(DependencyContainer.defaultDatabase)
        }
    }

    static let present = [
        ("CURRENT_TIMESTAMP", "2026-03-01 12:34:56"), ("CURRENT_DATE", "2026-03-01"), ("CURRENT_TIME", "12:34:56"),
        ("datetime('now')", "2026-03-01 12:34:56"), ("datetime()", "2026-03-01 12:34:56"), ("date('NOW')", "2026-03-01"),
        ("time('now')", "12:34:56"), ("date('now', '+1 month', 'start of month')", "2026-04-01"),
        ("unixepoch('now')", "1772368496"), ("unixepoch()", "1772368496"), ("strftime('%s')", "1772368496"),
        ("strftime('%Y-%m-%d %H:%M:%f', 'now')", "2026-03-01 12:34:56.789"), ("date(x'6e6f77')", "2026-03-01"),
        ("julianday('now') - julianday('2026-03-01 12:34:56.789')", "0.0"),
        ("strftime('%J', 'now') = strftime('%J', '2026-03-01 12:34:56.789')", "1"),
        ("typeof(date(' now'))", "null"), ("typeof(date(NULL))", "null"), ("typeof(date('now', 'nonsense'))", "null"),
    ]

    @Test func `every expression for the current time in SQL follows the container's clock`() async throws {
        try await withDatabase { database in
            for (expression, expected) in Self.present {
                let text = try await database.value("SELECT CAST(\(expression) AS TEXT)", as: String.self)
                #expect(text == expected, "\(expression)")
            }
        }
    }

    @Test func `defaults, triggers and views follow the container's clock`() async throws {
        try await withDatabase { database in
            try await database.write { db in
                try db.execute(
                    sql: """
                        CREATE TABLE t (a, created TEXT DEFAULT CURRENT_TIMESTAMP, day TEXT DEFAULT (date('now', '+1 day')));
                        CREATE TABLE log (at TEXT);
                        CREATE TRIGGER after_t AFTER INSERT ON t BEGIN INSERT INTO log VALUES (datetime('now')); END;
                        CREATE VIEW v AS SELECT time('now') AS at;
                        INSERT INTO t (a) VALUES (1);
                        """)
            }
            let sql = "SELECT created || ' ' || day || ' ' || log.at || ' ' || v.at FROM t, log, v"
            let found = try await database.value(sql, as: String.self)
            #expect(found == "2026-03-01 12:34:56 2026-03-02 2026-03-01 12:34:56 12:34:56")
            let transactionDate = try await database.read { db in try db.transactionDate }
            #expect(transactionDate == Self.moment)
        }
    }

    @Test(arguments: [
        "CREATE TABLE t (a, CHECK (a < date('now'))); INSERT INTO t VALUES (1)",
        "CREATE TABLE t (a, b AS (datetime('now'))); INSERT INTO t (a) VALUES (1); SELECT b FROM t",
        "CREATE TABLE t (a); CREATE INDEX i ON t (date('now')); INSERT INTO t VALUES (1)",
        "CREATE TABLE t (a, b AS (random()))",
        "CREATE TABLE t (a, b AS (randomblob(3)))",
        "CREATE TABLE t (a); CREATE INDEX i ON t (random())",
        "SELECT randomblob(2000000000)",
        "SELECT randomblob()",
        "SELECT random(1)",
        "SELECT date('now', 1, 2, 3, nonsense)",
    ])
    func `date functions refuse the same arguments as SQLite with the same messages`(_ sql: String) async throws {
        func failure(_ database: any DatabaseWriter) async -> String? {
            do {
                try await database.write { db in try db.execute(sql: sql) }
                return nil
            } catch {
                return (error as? DatabaseError)?.message
            }
        }
        let expected = try await failure(DatabaseQueue())
        #expect(expected != nil)
        try await withDatabase { database in
            #expect(await failure(database) == expected)
        }
    }

    @Test func `schemas with date functions in indexes and generated columns load`() async throws {
        try await withDatabase { database in
            try await database.write { db in
                try db.execute(
                    sql: """
                        CREATE TABLE t (at TEXT, day TEXT AS (date(at)) STORED);
                        CREATE INDEX by_day ON t (strftime('%Y', at));
                        INSERT INTO t (at) VALUES ('2020-02-29 10:00');
                        """)
            }
            #expect(
                try await database.value("SELECT day FROM t WHERE strftime('%Y', at) = '2020'", as: String.self) == "2020-02-29")
        }
    }

    static let elsewhere = [
        "date('2020-02-29', '+1 year')", "datetime(0, 'unixepoch', 'localtime')", "time('12:00', '+90 minutes')",
        "julianday('2000-01-01')", "unixepoch('1969-12-31 23:59:59')", "strftime('%d %f %H %j %J %m %M %s %S %w %W %Y %%', 5)",
        "strftime('%q', 'now')", "date(1e300)", "datetime(2451545.25)", "date('2020-13-01')", "datetime('now', 'utc') IS NULL",
        "typeof(random())", "typeof(randomblob(4))", "length(randomblob(0))", "length(randomblob(-5))",
        "length(randomblob(NULL))", "length(randomblob(17))", "length(randomblob('9'))", "abs(random()) >= 0",
        "count(DISTINCT random()) FROM (VALUES (1), (2), (3))", "hex(zeroblob(2))",
    ]

    @Test func `date functions without the current time behave as in SQLite`() async throws {
        let plain = try DatabaseQueue()
        try await withDatabase { database in
            for expression in Self.elsewhere {
                let expected = try await plain.read { db in try DatabaseValue.fetchOne(db, sql: "SELECT \(expression)") }
                let found = try await database.read { db in try DatabaseValue.fetchOne(db, sql: "SELECT \(expression)") }
                #expect(found == expected, "\(expression)")
            }
        }
    }

    @Test func `random() and randomblob() follow the container's source`() async throws {
        func numbers(_ seed: UInt64) async throws -> [Int64] {
            try await DependencyContainer.withTestScope {
                try await DependencyContainer.prepare {
                    $0.random = .seeded(seed)
                    $0.defaultDatabase = .inMemory()
                }
                let database = try await DependencyContainer.defaultDatabase
                return try await database.read { db in
                    try Int64.fetchAll(db, sql: "SELECT random() FROM (VALUES (1), (2), (3))")
                        + [Data.fetchOne(db, sql: "SELECT randomblob(9)")!.reduce(0) { $0 &* 31 &+ Int64($1) }]
                }
            }
        }
        let first = try await numbers(1)
        #expect(try await numbers(1) == first)
        #expect(try await numbers(2) != first)
        #expect(Set(first).count == 4)
        let source = RandomSource.seeded(1)
        #expect(
            abs(first[0]) == Int64(bitPattern: source.next()) & .max
                || first[0] == Int64(bitPattern: RandomSource.seeded(1).next()))
    }

    @Test func `all connections of a pool follow the container's clock, even with an unusual file name`() async throws {
        try await DependencyContainer.withTestScope {
            try await DependencyContainer.prepare {
                $0.date = .constant(Self.moment)
                $0.defaultDatabase = .pool("shop ?#%é.sqlite", usesFilesInTests: true)
            }
            let database = try await DependencyContainer.defaultDatabase
            #expect(database is DatabasePool)
            try await withThrowingTaskGroup { group in
                for _ in 0..<8 {
                    group.addTask { try await database.value("SELECT datetime('now')", as: String.self) }
                }
                for try await found in group { #expect(found == "2026-03-01 12:34:56") }
            }
        }
    }

    @Test func `a clock with an invalid time is safe in SQL`() async throws {
        for seconds in [Double.nan, .infinity, -.infinity, 1e300, -1e300] {
            try await DependencyContainer.withTestScope {
                try await DependencyContainer.prepare {
                    $0.date = .constant(Date(timeIntervalSince1970: seconds))
                    $0.defaultDatabase = .inMemory()
                }
                _ = try await DependencyContainer.defaultDatabase.value("SELECT datetime('now')", as: String.self)
                let host = try await ScriptHost()
                await #expect(throws: (any Error).self) { try await host.run(source: "perilune.now()") }
            }
        }
    }

    @Test func `databases that are opened one after the other have separate clocks`() async throws {
        for year in 2001...2040 {
            try await DependencyContainer.withTestScope {
                let date = Date(timeIntervalSince1970: Double(year - 1970) * 365.25 * 86400 + 40 * 86400)
                try await DependencyContainer.prepare {
                    $0.date = .constant(date)
                    $0.defaultDatabase = .inMemory()
                }
                let found = try await DependencyContainer.defaultDatabase.value("SELECT strftime('%Y')", as: String.self)
                #expect(found == "\(year)")
            }
        }
    }

    @Test func `databases that a host or a script opens use the host's clock`() async throws {
        try await withTemporaryFolder { folder in
            try await DependencyContainer.withTestScope {
                try await DependencyContainer.with {
                    $0.date = .constant(Self.moment)
                } operation: {
                    for database in [DatabaseSource.inMemory(), .queue("\(folder)/a b?.sqlite", inEveryContext: true)] {
                        var configuration = ScriptHost.Configuration(database: database)
                        configuration.allowsFiles = true
                        try await ScriptHost(configuration).run(
                            source: """
                                local folder = ...
                                local path = folder .. "/x#%41.sqlite"
                                for _, db in ipairs{ db, perilune.queue(), perilune.queue(path), perilune.pool(path) } do
                                  assert(db:fetch_value("SELECT datetime('now')") == "2026-03-01 12:34:56")
                                end
                                assert(perilune.queue(path):path() == path)
                                """, arguments: folder)
                    }
                    let names = try FileManager.default.contentsOfDirectory(atPath: folder)
                    #expect(names.contains("a b?.sqlite") && names.contains("x#%41.sqlite"))
                }
            }
        }
    }
}
