import Testing

@testable import PeriluneScenarios

/// Scenarios whose services, scripts or own automations fail.
@Suite struct ServiceFailureTests {
    /// Runs the body of one scenario in a project with the service `service.lua`.
    private func result(_ service: String, _ body: String, options: String = "{}") async throws -> ScenarioResult {
        let project = try ScenarioProject([
            "migrations/1_tables.sql": "CREATE TABLE thing (id INTEGER PRIMARY KEY, name TEXT);",
            "scenarios/a_scenario.lua": "scenario(\"it\", \(options), function(t)\n\(body)\nend)",
            "service.lua": service,
        ])
        return try await project.run().result("it")
    }

    private static let nightly = """
        perilune.automation{ name = "nightly", on = { every = "1h" }, retry = { times = 1, wait = "1m" }, run = function(context)
          error("no route")
        end }
        """
    private static let mails = """
        perilune.jobs("mail", { attempts = 2 }):handle(function(job)
          error("no route to " .. job.to)
        end)
        """

    @Test func `an automation that fails for good fails the scenario at the line of its error`() async throws {
        let result = try await result(
            Self.nightly, "t.service('service.lua')\nt.clock:advance('2h')\ncheck(true)\nprint('not reached')")
        #expect(result.outcome == .failed)
        let failure = try #require(result.failures.first)
        #expect(result.failures.count == 1)
        #expect(failure.message == "no route")
        #expect(failure.file?.hasSuffix("service.lua") == true)
        #expect(failure.line == 2)
        #expect(failure.details.last == "the automation `nightly` failed; t.service(path, { failures = \"allow\" }) allows it")
        #expect(!result.output.contains("not reached"))
    }

    @Test func `a failed attempt that is repeated successfully does not fail the scenario`() async throws {
        let result = try await result(
            Self.nightly.replacing("error(\"no route\")", with: "if context.attempt == 1 then error('no route') end"),
            "t.service('service.lua')\nt.clock:advance('2h')\ncheck(true)")
        #expect(result.failures.map(\.message) == [])
    }

    @Test func `the output of a scenario shows a failed attempt of an automation that waits for the next one`() async throws {
        let result = try await result(Self.nightly, "t.service('service.lua')\nt.clock:advance('1h')\ncheck(1 == 2)")
        #expect(result.failures.map(\.message) == ["check(1 == 2)"])
        let warning = "warning: automation `nightly` failed in attempt 1 of 2, and will be tried again error="
        #expect(result.output.contains(warning))
        #expect(result.output.contains("service.lua:2: no route"))
    }

    @Test func `a dead job fails the scenario, and its repeated attempts do not`() async throws {
        let result = try await result(
            Self.mails,
            """
            local service = t.service("service.lua")
            perilune.jobs("mail"):enqueue{ to = "Ada" }
            service:run_until_idle()
            """)
        let failure = try #require(result.failures.first)
        #expect(failure.message == "no route to Ada")
        #expect(failure.line == 2)
        #expect(
            failure.details.last
                == "job 1 of the queue `mail` is dead after 2 attempts; t.service(path, { failures = \"allow\" }) allows it")
    }

    @Test(arguments: [nightly, mails])
    func `with failures = allow, automations and jobs of a service may fail`(service: String) async throws {
        let result = try await result(
            service,
            """
            t.service("service.lua", { failures = "allow" })
            perilune.jobs("mail"):enqueue{ to = "Ada" }
            t.clock:advance("90m")
            check(true)
            """)
        #expect(result.failures.map(\.message) == [])
        #expect(result.output.contains("no route"))
    }

    @Test func `a timer of a service fails the scenario even with failures = allow`() async throws {
        let result = try await result(
            "perilune.after(1, function() error('boom') end)",
            "t.service('service.lua', { failures = 'allow' })\nt.clock:advance(2)\ncheck(true)")
        #expect(result.failures.map(\.message) == ["boom"])
    }

    @Test func `a service with perilune.on_error handles its failures itself`() async throws {
        let result = try await result(
            "perilune.on_error(function(e) print('seen', e) end)\n" + Self.nightly,
            "t.service('service.lua')\nt.clock:advance('90m')\ncheck(true)")
        #expect(result.failures.map(\.message) == [])
        #expect(result.output.contains("seen\t"))
    }

    @Test func `an automation that a script has left running fails the scenario`() async throws {
        let result = try await result(Self.nightly, "t.run('service.lua')\nt.clock:advance('90m')\ncheck(true)")
        #expect(result.failures.map(\.message) == ["no route"])
    }

    @Test func `a job that the scenario itself handles fails it when the job is dead`() async throws {
        let result = try await result(
            "", Self.mails + "\nperilune.jobs('mail'):enqueue{ to = 'Ada' }\nt.clock:advance('1h')\ncheck(true)")
        #expect(result.failures.map(\.message) == ["no route to Ada"])
    }

    @Test func `the option fails accepts the failure of an automation`() async throws {
        let result = try await result(
            Self.nightly, "t.service('service.lua')\nt.clock:advance('2h')\ncheck(true)", options: "{ fails = '#12' }")
        #expect(result.outcome == .passed)
    }

    @Test func `a job that is dead because its service was killed does not fail the scenario`() async throws {
        let result = try await result(
            "perilune.jobs('mail', { attempts = 1 }):handle(function(job) perilune.sleep('1h') end)",
            """
            local service = t.service("service.lua")
            perilune.jobs("mail"):enqueue{ to = "Ada" }
            t.wait_until_idle()
            service:kill():start()
            check(perilune.jobs("mail"):find(1).state == "dead")
            """)
        #expect(result.failures.map(\.message) == [])
    }
}
