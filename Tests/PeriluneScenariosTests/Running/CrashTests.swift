import Foundation
import Testing

@testable import PeriluneScenarios

/// Scenarios with the option `crash`, whose services end at crash points and start again.
@Suite struct CrashTests {
    private static let schema = """
        CREATE TABLE orders (id INTEGER PRIMARY KEY, state TEXT NOT NULL, total INTEGER NOT NULL, tries INTEGER NOT NULL DEFAULT 0);
        CREATE TABLE stock (id INTEGER PRIMARY KEY, reserved INTEGER NOT NULL);
        CREATE TABLE memo (name TEXT PRIMARY KEY);
        INSERT INTO stock VALUES (1, 0);
        """

    /// An automation that survives crashes.
    private static let service = """
        local payments = require "payments"
        local Order = perilune.record("orders")
        perilune.automation{ name = "close order", durable = true, on = { change = Order:filter{ state = "paid" } }, run = function(run)
          local id = run.key
          run:step("reserve", function(db) db:execute("UPDATE stock SET reserved = reserved + 1") end)
          run:call("charge", function(key) return payments.charge(id, key) end)
          run:sleep("3 days")
          run:step("close", function(db) db:execute("UPDATE orders SET state = 'closed' WHERE id = ?", tonumber(id)) end)
        end }
        """

    private static let scenario = """
        scenario("an order is charged once", { crash = true }, function(t)
          t.effects.payments:stub("charge", true):once()
          local service = t.service("service.lua")
          t.db:execute("INSERT INTO orders(state, total) VALUES ('paid', 5)")
          service:run_until_idle()
          expect(t.db:fetch_value("SELECT state FROM orders")):equals("closed")
        end)
        """

    private func run(
        _ service: String, _ scenario: String = scenario, _ formats: ScenarioReportFormat..., crashes: CrashSelection = .all,
        depth: Int = 1,
        points: Int = 200
    ) async throws -> (result: ScenarioResult, outcome: ScenarioProject.Outcome) {
        let project = try ScenarioProject([
            "migrations/1.sql": Self.schema, "service.lua": service, "scenarios/a_scenario.lua": scenario,
        ])
        let change = { (options: inout ScenarioOptions) in
            (options.crashes, options.crashDepth, options.crashPoints) = (crashes, depth, points)
        }
        let outcome =
            switch formats.count {
            case 0: try await project.run(isVerbose: true, change)
            default: try await project.run(formats[0], isVerbose: true, change)
            }
        var result = try #require(outcome.summary.results.first)
        for index in result.failures.indices { result.failures[index].message = Self.shown(result.failures[index].message) }
        return (result, outcome)
    }

    /// Returns a text without the folder of the service. Lua shortens a long path.
    private static func shown(_ text: String) -> String {
        text.replacing(/[^\s(]*\/service\.lua/, with: "service.lua")
    }

    /// Returns the first crash point of the undisturbed run whose text begins with a prefix.
    private func point(_ prefix: String, of service: String, _ scenario: String = scenario) async throws -> CrashSelection {
        let points = try #require(try await run(service, scenario, crashes: .none).result.crashes).points
        return .at([try #require(points.first { $0.text.hasPrefix(prefix) }, "\(points.map(\.text))").number])
    }

    @Test func `a durable automation survives a crash at each crash point`() async throws {
        let result = try await run(Self.service).result
        #expect(result.failures.map(\.message) == [])
        #expect(result.outcome == .passed)
        let crashes = try #require(result.crashes)
        #expect(crashes.count > 20)
        #expect(crashes.trials.map(\.numbers) == (1...crashes.count).map { [$0] })
        #expect(crashes.failed.isEmpty)
        let texts = crashes.points.map { Self.shown($0.text) }
        #expect(texts.contains("before the commit of step `reserve` (service.lua:5)"), "\(texts)")
        #expect(texts.contains { $0.hasPrefix("after payments.charge (service.lua:6)") }, "\(texts)")
        #expect(texts.contains { $0.hasPrefix("after the commit of sleep") }, "\(texts)")
    }

    @Test func `a note names the calls that were repeated after crashes`() async throws {
        let result = try await run(Self.service).result
        let point = try #require(result.crashes?.points.first { $0.text.hasPrefix("after payments.charge") }).number
        let note = try #require(result.notes.first)
        #expect(result.notes.count == 1)
        #expect(note.hasPrefix("payments.charge was repeated with the same arguments after crashes at the points "))
        #expect(note.contains(" \(point)"))
        #expect(try await run(Self.service, crashes: .none).result.notes == [])
        #expect(try await run(Self.service, crashes: .at([1])).result.notes == [])
    }

    @Test func `a durable automation survives two crashes in one run`() async throws {
        let result = try await run(Self.service, depth: 2, points: 6).result
        #expect(result.failures.map(\.message) == [])
        let pairs = try #require(result.crashes).trials.filter { $0.numbers.count == 2 }
        #expect(pairs.count == 6)
        #expect(pairs.allSatisfy { $0.points.count == 2 })
    }

    /// After a crash, the runs interleave differently, and a waiting run ends while the crash stops another one.
    @Test func `runs that wait and end at different times survive a crash at each crash point`() async throws {
        let service = """
            local payments = require "payments"
            local Order = perilune.record("orders")
            perilune.automation{ name = "close order", durable = true, on = { change = Order:filter{ state = "paid" } }, run = function(run)
              local id = tonumber(run.key)
              run:call("charge", function() return payments.charge(id) end)
              if id ~= 2 then run:sleep("100ms") end
              run:step("close", function(db) db:execute("UPDATE orders SET state = 'closed' WHERE id = ?", id) end)
            end }
            """
        let scenario = """
            scenario("orders are closed", { crash = true }, function(t)
              t.effects.payments:stub("charge", true):times(3)
              local service = t.service("service.lua")
              t.db:execute("INSERT INTO orders(state, total) VALUES ('paid', 5), ('paid', 6), ('paid', 7)")
              service:run_until_idle()
              expect(t.db:fetch_values("SELECT state FROM orders")):equals{ "closed", "closed", "closed" }
            end)
            """
        let result = try await run(service, scenario).result
        #expect(result.failures.map(\.message) == [])
        #expect(result.outcome == .passed)
    }

    @Test func `without the option to crash, crash points are only counted`() async throws {
        let result = try await run(Self.service, crashes: .none).result
        #expect(result.outcome == .passed)
        #expect(result.crashes?.trials.isEmpty == true)
        #expect(result.crashes?.count ?? 0 > 20)
    }

    @Test func `the seed selects the crash points if there are many`() async throws {
        let first = try await run(Self.service, points: 3).result, second = try await run(Self.service, points: 3).result
        #expect(first.crashes?.trials.count == 3)
        #expect(first.crashes?.trials.map(\.numbers) == second.crashes?.trials.map(\.numbers))
    }

    // MARK: - Planted faults

    /// Returns the failures of an automation that does not survive crashes.
    ///
    /// - Parameter prefix: The beginning of the text of the only point to test; `nil` for all points.
    private func faults(_ service: String, _ scenario: String = scenario, at prefix: String? = nil) async throws
        -> [ScenarioFailure]
    {
        var crashes = CrashSelection.all
        if let prefix { crashes = try await point(prefix, of: service, scenario) }
        let result = try await run(service, scenario, crashes: crashes).result
        #expect(result.outcome == .failed)
        let failed = try #require(
            result.crashes?.failed.first, "no crash was found to be harmful: \(result.failures.map(\.message))")
        // Testing only this crash point reproduces the failure.
        let again = try await run(service, scenario, crashes: .at(failed.numbers)).result
        #expect(again.failures.first?.message == result.failures.first?.message)
        return result.failures
    }

    private static func plainScenario(_ option: String) -> String {
        """
        scenario("a paid order", { crash = \(option) }, function(t)
          local service = t.service("service.lua")
          t.db:execute("INSERT INTO orders(state, total) VALUES ('paid', 5)")
          service:run_until_idle()
          check(true)
        end)
        """
    }

    @Test func `crash testing detects a record that is written after the transaction of its step`() async throws {
        let failures = try await faults(
            """
            perilune.automation{ name = "reserve", interrupted = "rerun", on = { change = "orders" }, run = function()
              if db:fetch_value("SELECT count(*) FROM memo") == 0 then
                db:write(function(db) db:execute("UPDATE stock SET reserved = reserved + 1") end)
                db:write(function(db) db:execute("INSERT INTO memo VALUES ('reserved')") end)
              end
            end }
            """, Self.plainScenario("true"))
        let failure = try #require(
            failures.first { $0.message.contains("after a commit (service.lua:3)") }, "\(failures.map(\.message))")
        #expect(failure.kind == "crash_rows")
        #expect(failure.message.hasSuffix("`stock` differs from the undisturbed run"), "\(failure.message)")
        #expect(failure.details.contains("- stock: id = 1, reserved = 2"), "\(failure.details)")
        #expect(failure.details.last?.contains("--crash-at") == true)
    }

    @Test func `crash testing detects an idempotency key that depends on the time`() async throws {
        let failures = try await faults(
            Self.service.replacing("payments.charge(id, key)", with: "payments.charge(id, os.time())"),
            at: "after payments.charge")
        #expect(
            failures.contains { $0.message.contains("payments.charge was called twice with different arguments") },
            "\(failures.map(\.message))")
    }

    @Test func `crash testing detects a trigger that is consumed before its work is recorded`() async throws {
        let failures = try await faults(
            """
            local Paid = perilune.record("orders"):filter{ state = "paid" }
            perilune.automation{ name = "take", interrupted = "rerun", on = { change = Paid, initially = true }, run = function()
              local id = db:fetch_value("SELECT min(id) FROM orders WHERE state = 'paid'")
              if not id then return end
              db:write(function(db) db:execute("UPDATE orders SET state = 'taken' WHERE id = ?", id) end)
              db:write(function(db) db:execute("UPDATE stock SET reserved = reserved + 1") end)
              db:write(function(db) db:execute("UPDATE orders SET state = 'closed' WHERE id = ?", id) end)
            end }
            """, Self.plainScenario("true"))
        #expect(
            failures.contains { $0.message.contains("after a commit (service.lua:5): `orders`, `stock` differ") },
            "\(failures.map(\.message))")
    }

    @Test func `crash testing detects a retry counter in memory`() async throws {
        let failures = try await faults(
            """
            local payments = require "payments"
            local tries = 0
            local Paid = perilune.record("orders"):filter{ state = "paid" }
            perilune.automation{ name = "charge", interrupted = "rerun", on = { change = Paid, initially = true }, run = function()
              local id = db:fetch_value("SELECT min(id) FROM orders WHERE state = 'paid'")
              if not id then return end
              while tries < 3 do
                tries = tries + 1
                payments.charge("order " .. id)
                perilune.sleep(60)
              end
              db:write(function(db) db:execute("UPDATE orders SET state = 'closed'") end)
            end }
            """, Self.scenario.replacing(":once()", with: ""))
        #expect(
            failures.contains { $0.message.contains("was called 5 times, in the undisturbed run 3") },
            "\(failures.map(\.message))")
    }

    @Test func `crash testing detects a step outside of a transaction`() async throws {
        let failures = try await faults(
            """
            local jobs = perilune.jobs("reserve")
            jobs:handle(function(job)
              db:execute("UPDATE stock SET reserved = reserved + 1")
              db:execute("UPDATE orders SET state = 'closed' WHERE id = ?", job.order)
            end)
            """,
            """
            scenario("reserved", { crash = true }, function(t)
              local service = t.service("service.lua")
              t.db:execute("INSERT INTO orders(state, total) VALUES ('paid', 5)")
              perilune.jobs("reserve"):enqueue{ order = 1 }
              service:run_until_idle()
              expect(t.db:fetch_value("SELECT state FROM orders")):equals("closed")
            end)
            """)
        #expect(failures.contains { $0.message.contains("`stock` differs") }, "\(failures.map(\.message))")
    }

    @Test func `a run that a crash has interrupted leads to the options that continue it`() async throws {
        let failures = try await faults(
            """
            perilune.automation{ name = "count", on = { change = "orders" }, run = function()
              perilune.sleep(60)
              db:write(function(db) db:execute("UPDATE stock SET reserved = reserved + 1") end)
            end }
            """,
            """
            scenario("counted", { crash = { ignore = "stock" } }, function(t)
              local service = t.service("service.lua")
              t.db:execute("INSERT INTO orders(state, total) VALUES ('paid', 5)")
              service:run_until_idle()
              check(service:is_running())
            end)
            """)
        let failure = try #require(failures.first { $0.message.contains("1 run of `count` interrupted, unlike") })
        #expect(
            failure.details.contains(
                "interrupted = \"rerun\" in the automation repeats an interrupted run, durable = true continues it"),
            "\(failure.details)")
    }

    // MARK: - Scripts

    @Test func `crash testing detects a script that is not idempotent`() async throws {
        let scenario = """
            scenario("a script", { crash = "rerun" }, function(t)
              t.run("service.lua")
              check(t.db:fetch_value("SELECT count(*) FROM orders") >= 2)
            end)
            """
        let failures = try await faults(
            "for i = 1, 2 do db:execute(\"INSERT INTO orders(state, total) VALUES ('new', ?)\", i) end", scenario)
        #expect(failures.contains { $0.message.contains("`orders` differs") }, "\(failures.map(\.message))")
        let result = try await run(
            "for i = 1, 2 do db:execute(\"INSERT OR IGNORE INTO orders(id, state, total) VALUES (?1, 'new', ?1)\", i) end",
            scenario
        ).result
        #expect(result.outcome == .passed, "\(result.failures.map(\.message))")
    }

    // MARK: - Options

    @Test func `crash testing does not compare ignored columns`() async throws {
        let service = """
            perilune.automation{ name = "touch", durable = true, on = { change = "orders" }, run = function(run)
              run:step("touch", function(db) db:execute("INSERT OR REPLACE INTO memo VALUES (?)", tostring(perilune.now())) end)
            end }
            """
        let crashes = try await point("before the commit of step", of: service, Self.plainScenario("true"))
        let failure = try #require(try await run(service, Self.plainScenario("true"), crashes: crashes).result.failures.first)
        #expect(failure.message.contains("`memo` differs"))
        #expect(failure.details.first?.contains("ignore = { \"memo.name\" }") == true, "\(failure.details)")
        for option in ["{ ignore = \"memo.name\" }", "{ ignore = { \"memo\" } }", "{ down = 0 }"] {
            let result = try await run(service, Self.plainScenario(option), crashes: crashes).result
            #expect(result.outcome == .passed, "\(option): \(result.failures.map(\.message))")
        }
    }

    @Test func `the crash option without a service is an error`() async throws {
        let result = try await run("", "scenario(\"a\", { crash = true }, function(t) check(true) end)").result
        #expect(result.failures.first?.message.hasPrefix("the option `crash` has no effect") == true)
    }

    @Test func `a crash point beyond the last one is an error`() async throws {
        let result = try await run(Self.service, crashes: .at([9999])).result
        #expect(result.failures.first?.message.contains("the run ended after") == true, "\(result.failures.map(\.message))")
    }

    @Test func `invalid values of the crash option are refused with an explanation`() async throws {
        for (value, text) in [
            ("1", "option `crash`"), ("\"twice\"", "option `crash`"), ("{ ignor = {} }", "did you mean `ignore`?"),
            ("{ down = -1 }", "`down`"),
        ] {
            let result = try await run("", "scenario(\"a\", { crash = \(value) }, function(t) check(true) end)").result
            #expect(result.failures.first?.message.contains(text) == true, "\(value): \(result.failures.map(\.message))")
        }
    }

    // MARK: - Services

    @Test func `a scenario kills, stops and starts a service itself`() async throws {
        let result = try await run(
            Self.service,
            """
            scenario("by hand", function(t)
              t.effects.payments:stub("charge", true)
              local service = t.service("service.lua")
              t.db:execute("INSERT INTO orders(state, total) VALUES ('paid', 5)")
              t.clock:advance("1 day")
              service:kill()
              expect(service:is_running()):equals(false)
              t.clock:advance("7 days")
              expect(t.db:fetch_value("SELECT state FROM orders")):equals("paid")
              service:start()
              t.wait_until_idle()
              expect(t.db:fetch_value("SELECT state FROM orders")):equals("closed")
              service:stop()
              expect(tostring(service)):matches("not running")
            end)
            """
        ).result
        #expect(result.failures.map(\.message) == [])
    }

    @Test func `a service whose file fails to load is an error with its location`() async throws {
        let result = try await run("local x = nil\nx.y = 1", Self.scenario).result
        #expect(result.failures.first?.message == "service.lua:2: attempt to index a nil value (local 'x')")
        let missing = try await run("", Self.scenario.replacing("\"service.lua\"", with: "\"other.lua\"")).result
        #expect(missing.failures.first?.message.contains("other.lua") == true)
    }

    @Test func `run_until_idle ends at its limit, and its error names the remaining run`() async throws {
        let result = try await run(
            """
            perilune.automation{ name = "again", retry = { times = 1000, wait = "1 day", factor = 1 }, on = { change = "orders" }, run = function()
              error("no")
            end }
            """,
            """
            scenario("never idle", function(t)
              local service = t.service("service.lua")
              t.db:execute("INSERT INTO orders(state, total) VALUES ('paid', 5)")
              service:run_until_idle{ within = "10 days" }
            end)
            """
        ).result
        #expect(
            result.failures.first?.message.contains("run 1 of `again` is waiting until") == true,
            "\(result.failures.map(\.message))")
    }

    // MARK: - Reports

    @Test(arguments: [ScenarioReportFormat.junit, .tap, .html, .jsonl, .pretty])
    func `reports show the crash points`(_ format: ScenarioReportFormat) async throws {
        let service = Self.service.replacing("payments.charge(id, key)", with: "payments.charge(id, os.time())")
        let crashes = try await point("after payments.charge", of: service)
        let text = try await run(service, Self.scenario, format, crashes: crashes).outcome[format]
        #expect(text.contains("crash at point"), "\(text)")
        #expect(text.contains("--crash-at"))
        if format == .html {
            #expect(text.contains("<ol class=\"timeline\">"))
        } else {
            #expect(text.contains("crash points") || text.contains("\"crashes\""))
        }
    }
}
