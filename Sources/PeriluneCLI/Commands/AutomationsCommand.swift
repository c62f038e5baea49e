import ArgumentParser
internal import Perilune
internal import Synchronization

/// The command `perilune automations`.
struct AutomationsCommand: ParsableCommand, DatabaseCommand {
    static let databaseHelp = "The database file; by default the one in the settings, or else a temporary database in memory."

    static let configuration = CommandConfiguration(
        commandName: "automations",
        abstract: "Run the automations of a file, and inspect their runs.",
        discussion: """
            A file of automations is a Lua script that calls perilune.automation{ name =,
            on =, run = } for each of them. Their runs are recorded in the table
            perilune_automation_run of the database.

            In a manual run or a preview, context.value holds the current value that the
            automation observes, as if it had just changed.

            EXAMPLES:
              perilune automations list stock.lua --database shop.sqlite
              perilune automations run stock.lua --database shop.sqlite
              perilune automations run stock.lua "low stock" --database shop.sqlite
              perilune automations preview stock.lua "low stock" --database shop.sqlite
              perilune automations status --database shop.sqlite
              perilune automations trace --database shop.sqlite --last 5
              perilune automations trace --database shop.sqlite --report runs.html
            """.paragraphs,
        subcommands: [List.self, Status.self, Trace.self, Run.self, Preview.self])

    /// The options that all subcommands share.
    struct Options: ParsableArguments {
        @OptionGroup var database: DatabaseOption<AutomationsCommand>
        @OptionGroup var context: ContextOptions
        @OptionGroup var common: CommonOptions

        func makeRequest(_ file: String? = nil, limits: ScriptLimitOptions? = nil) -> ScriptRequest {
            var request = ScriptRequest(sources: file.map { [.file($0)] } ?? [], arguments: [])
            request.database = database.path
            limits?.apply(to: &request)
            request.color = common.color
            return request
        }

        /// Runs a request, and throws `ExitCode` if its status is not 0.
        ///
        /// - Parameter isolating: The options for isolating scripts; `nil` if the request runs none.
        func run(_ request: ScriptRequest, _ isolating: IsolationOptions? = nil) async throws {
            let context = try context.resolved()
            if let isolating, isolating.isolates(request), try await SupervisedRun.run(request, isolating, common.errorColors) {
                return
            }
            if request.preview == nil, !request.usesCopy, let database = request.database {
                try context.requireLive("automations", database: database)
            }
            let runner = ScriptRunner(request: request, colors: common.errorColors)
            let status = try await context.run { try await runner.run() }
            try StandardStreams.flush()
            if status != 0 { throw ExitCode(status) }
        }
    }

    struct List: AsyncParsableCommand, IsolatingCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List the automations of a file, with their last runs.",
            discussion: "The file runs on a private copy of the database.")

        @Argument(help: "The file of automations.", completion: .file(extensions: ["lua"]))
        var file: String

        @Option(help: "The format of the table.")
        var format: ResultFormat?

        @OptionGroup var creating: CreateOption
        @OptionGroup var limits: ScriptLimitOptions
        @OptionGroup var isolating: IsolationOptions
        @OptionGroup var options: Options

        func validate() throws { try isolating.validate(isSandboxed: limits.sandbox) }

        func run() async throws { try await options.run(makeRequest(), isolating) }

        func makeRequest() throws -> ScriptRequest {
            var request = options.makeRequest(file, limits: limits)
            request.usesCopy = true
            request.makesDatabase = creating.create
            let table = AutomationTable(format: format, color: options.common.color)
            request.task = { [file] host in
                try await host.loadAutomations(file: file, isLive: false)
                try await table.write(host.automations())
            }
            return request
        }
    }

    struct Status: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "status",
            abstract: "Show which automations run, when they are due, and what is wrong; status 1 if something is.",
            usage: "perilune automations status [<options>]",
            discussion: """
                Reads the tables that a service keeps in the database, so it needs no file of
                automations, and the service may run or not. Something is wrong if no process
                runs an enabled automation, if its last run failed or was interrupted, if a due
                time has passed by more than a minute, if a run or a job lasts longer than
                --stuck, if a job is dead, or if jobs wait or were interrupted and no process
                handles their queue. A database in which no automation has ever run has
                nothing wrong, and status 0.

                The state is ready, running, disabled, stopped (no process runs it), paused
                (a queue), or unknown: the automation has run by hand, but never in a service,
                which is not wrong. If several processes run it, the first one is shown.
                last_success and last_failure are the times when these runs began.
                """)

        @Option(help: ArgumentHelp("How long a run or a job may last.", valueName: "time"))
        var stuck = "1h"

        @Option(help: "The format of the table.")
        var format: ResultFormat?

        @OptionGroup var options: Options

        func validate() throws {
            if options.database.path == nil { throw ValidationError("expected --database with the path of a file") }
            _ = try OptionValue.duration(stuck)
        }

        func run() async throws {
            let limit = try OptionValue.duration(stuck)
            var request = options.makeRequest()
            request.isReadonly = true
            let table = AutomationTable(format: format, color: options.common.color)
            let hasProblem = Atomic(false), colors = options.common.errorColors
            request.task = { host in
                let states = try await host.automationStatus(runsAreStuckAfter: limit)
                if states.isEmpty { CommandOutput.note("no automation has run with this database", colors) }
                try table.write(states)
                if states.contains(where: { $0.problem != nil }) { hasProblem.store(true, ordering: .releasing) }
            }
            try await options.run(request)
            if hasProblem.load(ordering: .acquiring) { throw ExitCode(ExitStatus.failure) }
        }
    }

    struct Trace: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "trace", abstract: "Show the last runs recorded in the database, newest last.",
            usage: "perilune automations trace [<name>] [<options>]",
            discussion: """
                The columns trigger and statements hold JSON as text, also in --format json:
                jq reads them with fromjson. The statements include those that Perilune runs
                for the functions of the script.
                """)

        @Argument(help: "Show only the runs of this automation.")
        var name: String?

        @Option(help: ArgumentHelp("The number of runs to show.", valueName: "count"))
        var last = 20

        @Option(help: "The format of the table.")
        var format: ResultFormat?

        @OptionGroup var page: PageOption
        @OptionGroup var options: Options

        func validate() throws {
            if options.database.path == nil { throw ValidationError("expected --database with the path of a file") }
            guard (1...100_000).contains(last) else { throw ValidationError("--last: expected a number from 1 to 100000") }
        }

        func run() async throws {
            var request = options.makeRequest()
            request.isReadonly = true
            let table = AutomationTable(format: format, color: options.common.color)
            request.task = { [name, last, page = page.report, database = options.database.path] host in
                let runs = try await host.automationRuns(of: name, last: last)
                if let page {
                    try OutputFile.write(Array(AutomationPage(runs: runs, database: database ?? "").text.utf8), to: page)
                }
                try table.write(runs.reversed())
            }
            try await options.run(request)
        }
    }

    struct Run: AsyncParsableCommand, IsolatingCommand {
        static let configuration = CommandConfiguration(
            commandName: "run",
            abstract: "Run automations when they are triggered, until Ctrl-C; or run one now.",
            discussion: """
                When the file changes it is reloaded, and everything that its previous version
                started is stopped. If the new version fails to load, the previous one keeps
                running.

                Ctrl-C, SIGTERM and SIGHUP stop it with status 0: active runs are interrupted
                where they wait, and recorded as cancelled; those that have not ended after
                five seconds are cancelled. A second Ctrl-C stops it immediately. If a run
                cannot even be cancelled, the command ends without it: five seconds after that,
                or a second after its limit of --timeout.

                Only one process at a time can run the automations of a file on a database; a
                copy of the file at another path is another file, and runs in addition. In a
                cluster the others wait, and one of them takes over when that one ends.

                Writes of other processes are noticed within a second, or within --poll. An
                automation on a whole table then reads all its rows; for a large table, let it
                observe a request.
                """.paragraphs)

        @Argument(help: "The file of automations.", completion: .file(extensions: ["lua"]))
        var file: String

        @Argument(help: "Run only this automation, now, if its guard allows it.")
        var name: String?

        @Option(help: ArgumentHelp("How often to check for writes of other processes: a time, or never.", valueName: "time"))
        var poll = "1s"

        @OptionGroup var creating: CreateOption
        @OptionGroup var limits: ScriptLimitOptions
        @OptionGroup var isolating: IsolationOptions
        @OptionGroup var options: Options

        func validate() throws {
            _ = try pollingPeriod()
            try isolating.validate(isSandboxed: limits.sandbox)
        }

        private func pollingPeriod() throws -> Duration? {
            poll == "never" ? nil : try OptionValue.duration(poll)
        }

        func run() async throws { try await options.run(makeRequest(), isolating) }

        func makeRequest() throws -> ScriptRequest {
            let period = try pollingPeriod()
            var request = options.makeRequest(file, limits: limits)
            request.makesDatabase = creating.create
            // Ctrl-C is the normal way to stop a service, but it interrupts a single run.
            request.gracefulStopStatus = name == nil ? ExitStatus.success : ExitStatus.interrupted
            let colors = options.common.errorColors
            request.task = { [file, name, database = request.database] host in
                guard let name else {
                    let service = AutomationService(file: file, database: database, host: host, poll: period, colors: colors)
                    guard let database, DatabaseFile.isCluster(database) else { return try await service.run() }
                    return try await AutomationLease(file: file, database: database, host: host, colors: colors).run {
                        try await service.run()
                    }
                }
                try await host.loadAutomations(file: file, isLive: false)
                try await Self.runOnce(name, host, colors)
            }
            return request
        }

        static func runOnce(_ name: String, _ host: ScriptHost, _ colors: Colors) async throws {
            let result = try await host.runAutomation(name)
            let reason = result.reason.map { " (\($0))" } ?? ""
            CommandOutput.note("\(name): \(result.outcome)\(reason)", colors)
        }
    }

    struct Preview: AsyncParsableCommand, IsolatingCommand {
        static let configuration = CommandConfiguration(
            commandName: "preview",
            abstract: "Run one automation now, if its guard allows it, on a private copy, and show what it would change.")

        @Argument(help: "The file of automations.", completion: .file(extensions: ["lua"]))
        var file: String

        @Argument(help: "The name of the automation.")
        var name: String

        @OptionGroup var report: PreviewReportOptions

        @OptionGroup var creating: CreateOption
        @OptionGroup var limits: ScriptLimitOptions
        @OptionGroup var isolating: IsolationOptions
        @OptionGroup var options: Options

        func validate() throws { try isolating.validate(isSandboxed: limits.sandbox) }

        func run() async throws { try await options.run(makeRequest(), isolating) }

        func makeRequest() throws -> ScriptRequest {
            var request = options.makeRequest(file, limits: limits)
            request.makesDatabase = creating.create
            var preview = PreviewRequest(planPath: nil, isChecking: false, allowsEffects: false)
            report.apply(to: &preview)
            request.preview = preview
            let colors = options.common.errorColors
            request.task = { [file, name] host in
                try await host.loadAutomations(file: file, isLive: false)
                try await Run.runOnce(name, host, colors)
            }
            return request
        }
    }
}
