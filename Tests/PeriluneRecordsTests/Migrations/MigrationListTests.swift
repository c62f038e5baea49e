import GRDB
import PeriluneRecords
import Testing

/// Migrations in Swift. The bindings' tests cover migrations in scripts.
@Suite struct MigrationListTests {
    private func list(_ names: [String]) throws -> MigrationList {
        var list = MigrationList()
        for name in names {
            try list.register(Migration(name) { db, _ in try db.execute(sql: "CREATE TABLE \(name) (x)") })
        }
        return list
    }

    private func migrate(_ list: MigrationList, _ queue: DatabaseQueue, upTo target: String? = nil) throws -> [String] {
        var applied: [String] = []
        var run = MigrationList.Run()
        run.didApply = { name, _ in applied.append(name) }
        try list.migrate(queue, upTo: target, run: &run)
        return applied
    }

    @Test func `migrations run once, in order, up to a given name`() throws {
        let queue = try DatabaseQueue()
        let list = try list(["a", "b", "c"])
        #expect(try migrate(list, queue, upTo: "b") == ["a", "b"])
        #expect(try migrate(list, queue) == ["c"])
        #expect(try migrate(list, queue) == [])
        #expect(try queue.read(MigrationList.appliedNames) == ["a", "b", "c"])
    }

    @Test func `committed migrations are reported before the failure of the next one`() throws {
        struct Failure: Error {}
        let queue = try DatabaseQueue()
        var list = try list(["a"])
        try list.register(Migration("b") { _, _ in throw Failure() })
        var told: [String] = []
        var run = MigrationList.Run()
        run.didApply = { name, duration in
            told.append(name)
            #expect(duration >= .zero)
        }
        #expect(throws: Failure.self) { try list.migrate(queue, run: &run) }
        #expect(told == ["a"])
        #expect(run.current == "b")
    }

    @Test func `the error of a migration lists violated foreign keys`() throws {
        let queue = try DatabaseQueue()
        var list = MigrationList()
        try list.register(
            Migration("a") { db, _ in
                try db.execute(
                    sql: """
                        CREATE TABLE p (id INTEGER PRIMARY KEY);
                        CREATE TABLE q (id INTEGER PRIMARY KEY, p REFERENCES p);
                        INSERT INTO q VALUES (3, 1), (4, NULL), (5, 1);
                        """)
            })
        let error = #expect(throws: ForeignKeyError.self) { try migrate(list, queue) }
        #expect(error?.violations.map(\.rowID) == [3, 5])
        #expect(error?.summary == "row 3, 5 of `q` to `p`")
        #expect(error?.hasMore == false)
        #expect(try queue.read { db in try db.tableExists("q") } == false)
    }

    @Test func `migrating a read-only database is refused before any statement runs`() throws {
        var configuration = Configuration()
        configuration.readonly = true
        let queue = try DatabaseQueue(configuration: configuration)
        let error = #expect(throws: MigrationError.self) { try migrate(list(["a"]), queue) }
        #expect(error?.kind == .readonly)
    }
}
