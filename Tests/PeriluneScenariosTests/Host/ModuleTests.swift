import Perilune
import Synchronization
import Testing

@testable import PeriluneScenarios

/// Modules that scenario files and their scripts require.
@Suite struct ModuleTests {
    private static let files = [
        "scenarios/support.lua": "helper = require('helpers.names')",
        "scenarios/helpers/names.lua": "return { name = 'Ada' }",
        "scenarios/inner/beside.lua": "return { value = 1 }",
        "scenarios/inner/a_scenario.lua": """
        local beside = require("beside")
        scenario("it", function(t)
          check(beside.value == 1)
          check(helper.name == "Ada")
          check(require("helpers.names") == helper)
          check(require("shop.orders").total == 3)
          check(t.run("script.lua").value == 3)
        end)
        scenario("nowhere", function(t) require("nowhere") end)
        scenario("misspelt", function(t) require("besde") end)
        scenario("outside", function(t) require("...etc") end)
        """,
        "shop/orders.lua": "return { total = 3 }",
        "script.lua": "return require('shop.orders').total",
    ]

    @Test func `modules are searched next to the scenario file, in the scenario folder and in the project folder`() async throws {
        let project = try ScenarioProject(Self.files)
        let run = try await project.run()
        #expect(try run.outcome("it") == .passed)
        let message = try run.result("nowhere").failures.first?.message.replacing(project.path, with: "P")
        #expect(message == "require: module `nowhere` not found; looked in `P/scenarios/inner`, `P/scenarios`, `P`")
        #expect(try run.result("misspelt").failures.first?.message == "require: module `besde` not found; did you mean `beside`?")
        #expect(try run.result("outside").failures.first?.message.contains("module `...etc` not found") == true)
    }

    @Test func `a misspelled function or module of a stub is an error with the nearest name`() async throws {
        let project = try ScenarioProject(
            """
            scenario("calls", function(t)
              t.effects.mail:stub("send", true)
              expect(#t.effects.mail:calls("send")):equals(0)
              t.effects.mail:calls("sned")
            end)
            scenario("stub of a function that is not registered", function(t) t.effects.tax:stub("off", 1) end)
            scenario("require", function(t)
              t.effects.mailer:stub("send", true)
              require("mailr")
            end)
            """)
        let run = try await project.run { options in
            options.register(module: "tax") { tax in tax.function("of") { (cents: Int) in cents / 5 } }
        }
        let messages = run.summary.failures.flatMap(\.failures).map(\.message)
        #expect(messages.count == 3)
        #expect(messages.contains { $0.hasPrefix("no function `sned`; did you mean `send`?") }, "\(messages)")
        #expect(messages.contains { $0.hasPrefix("no function `off`; did you mean `of`?") }, "\(messages)")
        #expect(messages.contains("require: module `mailr` not found; did you mean `mailer`?"), "\(messages)")
    }

    @Test func `Swift functions are called unless they have external effects`() async throws {
        let project = try ScenarioProject([
            "scenarios/a_scenario.lua": """
            local tax = require("tax")
            scenario("scripts and scenarios", function(t)
              t.effects.mail:stub("send", "queued")
              check(tax.of(100) == 20)
              local result = t.run("script.lua")
              check(result.value == 40)
              expect(result.output):equals("queued\\n")
              expect(t.effects.mail:calls("send")):equals { { "ada" } }
            end)
            scenario("unexpected", function(t) require("mail").send("ada") end)
            scenario("in place of a function", function(t)
              t.effects.tax:stub("of", function(cents) return -cents end)
              check(t.run("script.lua").value == -200)
            end)
            scenario("waits", function(t) check(tax.later(1) == 2) end)
            scenario("arguments that it would refuse", function(t)
              t.effects.mail:stub("send", true)
              local is_ok, err = pcall(require("mail").send, {})
              check(not is_ok and err.kind == "argument")
              expect(err.message):contains("mail.send: argument 1: expected a string, got a table")
              check(#t.effects.mail:calls("send") == 0)
            end)
            """,
            "script.lua": "print(require('mail').send('ada')) return require('tax').of(200)",
        ])
        let sent = Mutex(0)
        let run = try await project.run { options in
            options.register(module: "tax") { tax in
                tax.function("of") { (cents: Int) in cents / 5 }
                tax.function("later") { (cents: Int) async throws -> Int in
                    await Task.yield()
                    return cents + 1
                }
            }
            options.register(module: "mail") { mail in
                mail.function("send", effect: .external) { (_: String) in sent.withLock { $0 += 1 } }
            }
        }
        #expect(try run.outcome("scripts and scenarios") == .passed)
        #expect(try run.result("unexpected").failures.map(\.message) == ["unexpected call of mail.send"])
        let waits = try run.result("waits")
        #expect(waits.outcome == .passed, "\(waits.failures)")
        #expect(try run.result("arguments that it would refuse").failures.map(\.message) == [])
        #expect(sent.withLock { $0 } == 0)
        let stubbed = try run.result("in place of a function")
        #expect(stubbed.failures.map(\.message) == ["unexpected call of mail.send"])
    }
}
