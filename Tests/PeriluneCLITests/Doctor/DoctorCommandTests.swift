import Foundation
import PeriluneLua
import PeriluneTestTools
import Testing

@testable import PeriluneCLI

@Suite(.patience, .startsPrograms) struct DoctorCommandTests {
    @Test func `doctor passes a database without faults and gives suggestions`() throws {
        let folder = try ConsoleProcess.makeFolder()
        let result = try folder.perilune("doctor", "--database", "library.sqlite")
        #expect(result.status == 0, "\(result.output)")
        #expect(result.output.contains("ok       SQLite 3."))
        #expect(
            result.output.contains(
                "warning  book(author_id) refers to author without an index\n         CREATE INDEX \"book_by_author_id\" ON \"book\" (\"author_id\")\n"
            ), "\(result.output)")
        let cured = try folder.perilune(
            "run", "--database", "library.sqlite", "-e",
            "db:execute[[CREATE INDEX \"book_by_author_id\" ON \"book\" (\"author_id\")]]")
        #expect(cured.status == 0)
        #expect(
            try folder.perilune("doctor", "--database", "library.sqlite").output.contains(
                "ok       every foreign key has an index\n"))
    }

    @Test func `doctor wants no index for the transactions of a history, whose rows are never deleted`() throws {
        let folder = try TestFolder()
        let made = try folder.perilune(
            "run", "--database", "a.sqlite", "-e",
            "db:execute 'CREATE TABLE t (id INTEGER PRIMARY KEY)' perilune.history(perilune.record('t')):install(db)")
        #expect(made.status == 0, "\(made.errors)")
        let result = try folder.perilune("doctor", "--database", "a.sqlite")
        #expect(result.output.contains("ok       every foreign key has an index\n"), "\(result.output)")
    }

    @Test func `doctor reports times with a T in columns of dates, and its cure converts them`() throws {
        let folder = try TestFolder()
        let values = "('2026-11-20T08:46:00+01:00', 'T', '2026-11-20T08:46:00Z'), ('2026-11-20 09:00:00.000', 'x', 'y')"
        let made = try folder.perilune(
            "run", "--database", "a.sqlite", "-e",
            "db:execute[[CREATE TABLE e (at DATETIME, d DATE, s TEXT); INSERT INTO e VALUES \(values)]]")
        try #require(made.status == 0, "\(made.errors)")
        let result = try folder.perilune("doctor", "--database", "a.sqlite")
        #expect(result.status == 0)
        let lines = result.output.split(separator: "\n").map(String.init)
        let finding = "warning  e(at) has times with a T, which conditions of records miss"
        let index = try #require(lines.firstIndex(of: finding), "\(result.output)")
        #expect(!result.output.contains("e(d)") && !result.output.contains("e(s)"))
        let cure = lines[index + 1].trimmingCharacters(in: .whitespaces)
        let cured = try folder.perilune("query", cure, "--write", "--database", "a.sqlite")
        #expect(cured.status == 0, "\(cured.errors)")
        let times = try folder.perilune("query", "SELECT at FROM e", "--format", "tsv", "--database", "a.sqlite")
        #expect(times.output == "at\n2026-11-20 07:46:00.000\n2026-11-20 09:00:00.000\n")
        #expect(try !folder.perilune("doctor", "--database", "a.sqlite").output.contains("times with a T"))
    }

    @Test func `doctor reports a damaged database and still runs the other checks`() throws {
        let folder = try TestFolder()
        let rows =
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) SELECT printf('%.*c', 200, 'x') FROM n"
        let made = try folder.perilune(
            "run", "--database", "a.sqlite", "-e",
            "db:execute[[CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT, r REFERENCES t); INSERT INTO t (v) \(rows)]]")
        #expect(made.status == 0, "\(made.errors)")
        #expect(try folder.shell("printf '%4096s' x | dd of=a.sqlite bs=4096 seek=10 count=1 conv=notrunc").status == 0)
        let result = try folder.perilune("doctor", "--database", "a.sqlite")
        #expect(result.status == 1 && result.output.contains("fault    "), "\(result.output)\(result.errors)")
        for text in ["perilune dump --database a.sqlite", "t(r) refers to t without an index", "% free"] {
            #expect(result.output.contains(text), "\(result.output)")
        }
    }

    @Test func `doctor reports a foreign key that refers to a missing row`() throws {
        let folder = try ConsoleProcess.makeFolder()
        _ = try folder.perilune(
            "run", "--database", "library.sqlite", "-e",
            "db:write_without_transaction(function(db) db:execute('PRAGMA foreign_keys = OFF') db:execute('DELETE FROM author WHERE id = 1') end)"
        )
        let result = try folder.perilune("doctor", "--database", "library.sqlite", "--format", "json")
        #expect(result.status == 1)
        #expect(
            result.output.contains(
                "{\"verdict\":\"fault\",\"text\":\"2 rows of book refer to missing rows of author\",\"cure\":"),
            "\(result.output)")
    }

    @Test func `doctor reports a foreign key whose target is not a key, and still checks the others`() throws {
        let folder = try TestFolder()
        let made = try folder.perilune(
            "run", "--database", "a.sqlite", "-e",
            """
            db:write_without_transaction(function(db)
              db:execute "PRAGMA foreign_keys = OFF"
              db:execute "CREATE TABLE p (a INTEGER PRIMARY KEY, b); CREATE TABLE c (x REFERENCES p (b)); CREATE TABLE d (x REFERENCES nowhere)"
              db:execute "CREATE TABLE 'it''s' (p INTEGER REFERENCES p); INSERT INTO 'it''s' VALUES (7)"
            end)
            """)
        #expect(made.status == 0, "\(made.errors)")
        let result = try folder.perilune("doctor", "--database", "a.sqlite")
        #expect(result.status == 1)
        for text in [
            "fault    foreign key mismatch - \"c\" referencing \"p\"\n",
            "fault    d(x) refers to nowhere, a table that does not exist\n",
            "fault    1 row of it's refers to missing rows of p\n", "pragma_foreign_key_check('it''s')",
            "warning  c(x) refers to p without an index\n",
        ] { #expect(result.output.contains(text), "\(result.output)") }
    }

    @Test func `doctor reports dead jobs, diverged runs and runs in the future`() throws {
        let folder = try TestFolder()
        let made = try folder.perilune(
            "run", "--database", "a.sqlite", "-e",
            """
            local jobs = perilune.jobs("mail")
            jobs:enqueue(1)
            perilune.automation{ name = "a", on = { event = "e" }, run = function() end }:remove()
            db:execute("UPDATE perilune_job SET state = 'dead'")
            db:execute([[INSERT INTO perilune_automation_run(automation, trigger, started_at, attempts, outcome)
              VALUES ('a', '{}', '2999-01-01 00:00:00.000', 1, 'diverged')]])
            """)
        #expect(made.status == 0, "\(made.errors)")
        let result = try folder.perilune("doctor", "--database", "a.sqlite")
        #expect(result.status == 0, "\(result.output)")
        for text in [
            "warning  1 job of the queue mail is dead\n", "warning  1 run of the automation a: diverged\n",
            "warning  1 run of an automation begins in the future\n",
        ] { #expect(result.output.contains(text), "\(result.output)") }
    }

    @Test func `doctor reports runs and jobs whose process has ended, and jobs without a handler`() throws {
        let folder = try TestFolder()
        let made = try folder.perilune(
            "run", "--database", "a.sqlite", "-e",
            """
            local jobs = perilune.jobs("mail")
            jobs:enqueue(1)
            jobs:enqueue(2)
            perilune.jobs("letters"):enqueue(3)
            perilune.automation{ name = "a", on = { event = "e" }, run = function() end }:remove()
            """)
        #expect(made.status == 0, "\(made.errors)")
        let killed = try folder.perilune(
            "run", "--database", "a.sqlite", "-e",
            """
            perilune.automation{ name = "a", on = { event = "e" }, run = function()
              db:execute("CREATE TABLE copy AS SELECT * FROM perilune_automation_run WHERE outcome = 'running'")
            end }
            perilune.emit("e")
            perilune.sleep(0.1)
            perilune.automations()[1]:remove()
            db:execute("UPDATE perilune_automation_run SET outcome = 'running', owner = (SELECT owner FROM copy)")
            db:execute("UPDATE perilune_job SET state = 'running', owner = (SELECT owner FROM copy) WHERE payload = '1'")
            """)
        #expect(killed.status == 0, "\(killed.errors)")
        let result = try folder.perilune("doctor", "--database", "a.sqlite")
        for text in [
            "warning  1 run of the automation a is recorded as running, but its process has ended\n",
            "warning  1 job of the queue mail is recorded as running, but its process has ended\n",
            "warning  1 job of the queue letters waits, and no process handles it\n",
            "warning  1 job of the queue mail waits, and no process handles it\n",
        ] { #expect(result.output.contains(text), "\(result.output)") }
    }

    @Test func `the known bugs of a Lua release are counted, and listed on demand`() {
        let grouped = LibraryExamination.bugs(of: LuaRelease(4), isGrouped: true)
        #expect(grouped.map(\.text) == ["Lua 5.4.4 has 5 known bugs that scripts can trigger"])
        #expect(grouped.map(\.cure) == ["fixed in Lua 5.4.8; --verbose lists them"])
        let listed = LibraryExamination.bugs(of: LuaRelease(4), isGrouped: false)
        #expect(listed.count == 5)
        #expect(
            listed.last
                == Finding(
                    verdict: .warning, text: "Lua: an error in a __close method may lose the message handler",
                    cure: "fixed in Lua 5.4.8"))
        #expect(
            LibraryExamination.bugs(of: LuaRelease(7), isGrouped: true)
                == LibraryExamination.bugs(of: LuaRelease(7), isGrouped: false))
        #expect(LibraryExamination.bugs(of: LuaRelease(8), isGrouped: true).isEmpty)
    }

    @Test func `doctor without a database checks the libraries`() throws {
        let result = try TestFolder().perilune("doctor")
        #expect(result.status == 0 && result.output.contains("Lua 5.4"), "\(result.output)")
    }
}
