import Foundation
import GRDB
@testable import PeriluneCluster
import PeriluneRecords
import PeriluneScenarios
import PeriluneTestTools
import Synchronization
import Testing

/// The scenarios of the documentation, each on a separate database in a cluster.
@Suite(.serialized, .patience, .startsPrograms, .withNodes) struct ClusterScenarioTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
        .appending(path: "scripts/scenarios")

    /// Scenarios that need features that a cluster lacks, with parts of their failure messages.
    private static let impossible: [(name: String, reason: String)] = [
        // A cluster cannot read or write parts of blobs.
        ("databases_scenario.lua: a blob is written and read in pieces", "blobs cannot be opened in a cluster"),
        // Recording changes requires local rows.
        ("databases_scenario.lua: a rule resolves conflicts between changes", "changesets are recorded"),
        ("databases_scenario.lua: changes are recorded, undone and applied to another database", "changesets are recorded"),
        // The time in SQL comes from the node, not from the scenario.
        ("history_scenario.lua: a class returns its records at an earlier time, and a record its versions", "expect(Book:as_of"),
        // Rebuilding a table requires that foreign keys are off.
        ("history_scenario.lua: a transaction with a note can be undone completely", "enforces foreign keys"),
        (
            "schema_scenario.lua: a column changes its type and properties, and the rest of the table stays",
            "enforces foreign keys"
        ),
        ("schema_scenario.lua: a dry run lists the steps without making them", "enforces foreign keys"),
        ("schema_scenario.lua: keys and checks are added and dropped", "enforces foreign keys"),
        ("schema_scenario.lua: values that a type would change are rejected, or converted on request", "enforces foreign keys"),
        ("schema_scenario.lua: an added column must fit the rows, and a dropped one must not be in use", "enforces foreign keys"),
        // Nodes do not report changes.
        ("durable_scenario.lua: a durable run repeats its calls, sleeps for days and continues", "cannot be observed"),
        ("observation_scenario.lua: an observed list changes to its next page, pauses and resumes", "cannot be observed"),
        (
            "observation_scenario.lua: an observer is notified of each changed row and can reject the transaction",
            "cannot be observed"
        ),
        (
            "observation_scenario.lua: inventory_automation.lua orders missing items once and receives them",
            "cannot be observed"
        ),
        ("observation_scenario.lua: an automation runs when its request changes, and records each run", "cannot be observed"),
        ("observation_scenario.lua: a loop over values ends the observation when it is left", "cannot be observed"),
        ("observation_scenario.lua: several functions share one observation", "cannot be observed"),
        (
            "observation_scenario.lua: transactions that may have changed a region are reported",
            "cannot be observed"
        ),
        ("observation_scenario.lua: values are fetched again after each transaction that changes them", "cannot be observed"),
        ("observation_scenario.lua: values are mapped, and equal values are delivered on request", "cannot be observed"),
        // SQLite's sessions also record the changes of scenarios.
        ("records_scenario.lua: a class inserts plain tables, and many at once", "expect(changes)"),
        ("records_scenario.lua: update writes all columns, and update_changes only the changed ones", "expect(changes)"),
        ("requests_scenario.lua: update_all and delete_all are one statement each", "expect(changes)"),
        ("scenarios_scenario.lua: indistinguishable changed rows still count as changed", "expect(tostring(changes(sql)))"),
        ("records_scenario.lua: the scenario's clock applies in Lua and in SQL", "CURRENT_TIMESTAMP"),
        ("values_scenario.lua: a column declared DATE holds days", "CURRENT_DATE"),
        // Temporary objects end with the connection.
        (
            "schema_scenario.lua: a trigger on a view writes to tables, and temporary triggers end with the connection",
            "no temporary tables"
        ),
        // dqlite would truncate the text.
        ("values_scenario.lua: integers and floats are exact", "contains a NUL byte"),
        // The nodes do not have Perilune's SQL functions.
        ("windows_scenario.lua: aggregates can filter, deduplicate and order their rows", "perilune_ordered_concat"),
    ]

    @Test func `the scenarios of the documentation pass in a cluster`() async throws {
        let nodes = try await ClusterNodes()
        let number = Atomic(0), servers = nodes.servers
        var options = ScenarioOptions()
        options.paths = [ScenarioPath(Self.folder.path)]
        options.snapshots = .none
        options.noChecks = .allow
        options.timeout = .seconds(60)
        options.databaseMaker = { contents, configuration in
            let name = "scenario\(number.add(1, ordering: .relaxed).newValue)"
            let queue = try ClusterDatabase.open(
                ClusterAddress(servers: servers, name: name), timeout: .seconds(20), configuration: configuration)
            try Self.fill(queue, with: contents)
            return queue
        }
        var passed = 0, found: Set<String> = []
        for item in try ScenarioSuite(options).cases {
            let result = await item.run()
            let name = "\(URL(filePath: item.scenario.file).lastPathComponent): \(item.scenario.name)"
            let texts = result.failures.map { result.text(of: $0) }.joined(separator: "\n")
            if texts.isEmpty {
                passed += 1
            } else if let known = Self.impossible.first(where: { $0.name == name && texts.contains($0.reason) }) {
                found.insert(known.name)
            } else {
                Issue.record("\(name): \(texts)")
            }
        }
        #expect(Self.impossible.map(\.name).filter { !found.contains($0) } == [], "these are possible now")
        print("scenarios: \(passed) in a cluster, \(found.count) that need what it has not")
    }

    @Test func `each scenario starts with a copy of a database in a cluster`() async throws {
        let nodes = try await ClusterNodes()
        _ = nodes.shell("CREATE TABLE book (title TEXT)")
        _ = nodes.shell("INSERT INTO book VALUES ('Typee'), ('Omoo')")
        let folder = FileManager.default.temporaryDirectory.appending(path: "perilune-scenarios-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "copy_scenario.lua")
        try """
        for i = 1, 2 do
          scenario("copy " .. i, { database = "fixture:\(nodes.url("shop"))" }, function(t)
            check(t.db:fetch_value("SELECT count(*) FROM book") == 2)
            t.db:execute("DELETE FROM book")
          end)
        end
        """.write(to: file, atomically: true, encoding: .utf8)
        var options = ScenarioOptions()
        options.paths = [ScenarioPath(file.path)]
        let cases = try ScenarioSuite(options).cases
        #expect(cases.count == 2)
        for item in cases {
            let result = await item.run()
            #expect(result.outcome == .passed, "\(result.failures.map { result.text(of: $0) })")
        }
        #expect(nodes.shell("SELECT count(*) FROM book").contains("2"))
    }

    /// Copies a database into an empty database in a cluster.
    private static func fill(_ queue: DatabaseQueue, with contents: DatabaseQueue) throws {
        let cluster = try #require(ClusterDatabase.of(queue))
        let objects = try contents.read { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite@_%' ESCAPE '@'
                    AND name NOT IN (SELECT name FROM pragma_table_list WHERE type = 'shadow')
                    ORDER BY CASE type WHEN 'table' THEN 1 WHEN 'index' THEN 2 WHEN 'view' THEN 3 ELSE 4 END, rowid
                    """)
        }
        try queue.writeWithoutTransaction { db in
            defer { cluster.endAccess() }
            // Rows are inserted before the rows that refer to them, and before the triggers that would change them.
            try db.execute(sql: "PRAGMA foreign_keys = OFF")
            try db.inTransaction(.immediate) {
                for object in objects where object["type"] == "table" { try cluster.prepare(object["sql"], in: db).execute() }
                for object in objects where object["type"] == "table" {
                    for row in try contents.read({ try Row.fetchAll($0, sql: "SELECT * FROM \"\(object["name"] as String)\"") }) {
                        let marks = row.map { _ in "?" }.joined(separator: ", ")
                        try cluster.prepare("INSERT INTO \"\(object["name"] as String)\" VALUES (\(marks))", in: db)
                            .execute(StatementArguments(row.databaseValues))
                    }
                }
                for object in objects where object["type"] != "table" { try cluster.prepare(object["sql"], in: db).execute() }
                return .commit
            }
            try db.execute(sql: "PRAGMA foreign_keys = ON")
        }
    }
}
