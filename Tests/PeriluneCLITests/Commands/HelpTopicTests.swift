import Foundation
import PeriluneTestTools
import Testing

@testable import PeriluneCLI

/// `perilune help NAME`.
@Suite(.startsPrograms) struct HelpTopicTests {
    @Test func `help on a function shows its call, its errors and an example`() throws {
        let result = try TestFolder().perilune("help", "db:fetch_all")
        #expect((result.status, result.errors) == (0, ""))
        #expect(result.output.hasPrefix("db:fetch_all(sql, ...)\n\n  Returns all rows"))
        for part in ["returns  perilune.row[]", "raises   sql: ", "    print(#rows, rows[1].title)"] {
            #expect(result.output.contains(part), "\(part) is not in:\n\(result.output)")
        }
    }

    @Test(arguments: ["text tables", "exit statuses", "Text Tables"])
    func `a topic of two words needs no quotes`(_ topic: String) throws {
        let folder = try TestFolder(), quoted = try folder.perilune("help", topic)
        let words = topic.split(separator: " ").map(String.init)
        let result = try folder.perilune("help", words[0], words[1])
        #expect((result.status, result.output, result.errors) == (0, quoted.output, ""))
        #expect(!result.output.isEmpty)
        #expect(try folder.perilune("help", words[0], "x").errors.hasPrefix("error: unknown command \(words[0])"))
        #expect(try folder.perilune("help", "automations", "status").output.contains("perilune automations status"))
    }

    @Test func `examples of commands are not wrapped at 80 columns`() throws {
        let folder = try TestFolder()
        var count = 0
        for command in try CommandDescription.read(PeriluneCommand.self).all {
            let lines = (command.discussion ?? "").split(separator: "\n").filter { $0.hasPrefix("  ") }
            for line in lines { #expect(line.count < 80, "\(line)") }
            count += lines.count
        }
        #expect(count > 40)
        let help = try folder.perilune("help", "query").output
        #expect(help.contains("\n  perilune query --database x.sqlite 'SELECT * FROM shop WHERE id = :n' -p n=7\n"))
    }

    @Test(arguments: ["many", "t.make.customer:many", "t.make:many", "t.make"])
    func `help on rows of scenarios includes the arguments of many`(_ name: String) throws {
        #expect(try TestFolder().perilune("help", name).output.contains("t.make.customer:many(3, {"))
    }

    @Test(arguments: [
        ("filter", "request:filter(condition, ...)"), ("fetch_one", "statement:fetch_one(...)"),
        ("db.write", "db:write(options, block, ...)"),
        ("expect", "expect.soft(value)"), ("expect", "  expectation:equals(value)\n"),
        ("expect:rows", "expectation:rows(text_table)\n"), ("expect.rows", "expectation:rows(text_table)\n"),
        ("migrations", "Migrations\n"),
        ("busy_timeout", "perilune.database_options.busy_timeout"),
        ("perilune.json", "perilune.json.encode(value)"), ("topics", "  expectations  "),
        ("DB:FETCH_ALL", "db:fetch_all(sql, ...)"),
        ("Class:save_nested", "request:save_nested("), ("class.fetch_all", "request:fetch_all("),
        ("cluster_options", "perilune.cluster_options\n"), ("perilune.duration", "  type  number|string|{"),
        ("condition", "perilune.condition\n"), ("durable_run", "run:step(name, f, options)"),
        ("perilune.durable_run", "run  (perilune.durable_run)\n"), ("perilune.given", "t.given\n"),
        ("errors", "  constraint_unique        another row has the values of a unique key"), ("errors", "\nperilune.error\n"),
        ("constraint_unique", "constraint_unique  (perilune.error_kind)\n\n  another row has"),
        ("perilune.error_kind", "  yield "),
        ("topics", "  schema "), ("topics", "  transactions, kinds, limits"), ("Schema", "db:create_table("),
        ("schema", "db:create_table("),
        ("schema", "OVERVIEW: Show the schema"), ("transactions", "db:in_savepoint("), ("transactions", "history:transactions("),
        ("kinds", "  constraint_unique "), ("limits", "--timeout 2s"), ("sandbox", "The sandbox\n"),
        ("conditions", "request:filter("), ("text table", "Text tables in scenarios\n"), ("jest", "Testing scripts\n"),
        ("tests", "  check(value, message)\n"), ("tests", "`scenario(name, options, function(t) ... end)`"),
        ("automations", "The guide DurableAutomations describes"),
        ("durable_run", "run:wait_for("), ("perilune.durable_run", "and all that perilune.automation_context has"),
        ("perilune.row.get", "row:get("), ("perilune.row:get", "row:get("), ("perilune.given", "t.given"),
        ("exit-codes", "75: another process holds a lock"), ("exit", "Exit statuses of the command\n"),
        ("perilune.toml", "`perilune settings` lists all settings"), ("backup", "db:backup_to("), ("cron", "perilune.schedule("),
    ])
    func `help finds methods, classes, pages, options and words`(name: String, part: String) throws {
        let result = try TestFolder().perilune("help", name)
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output.contains(part), "\(result.output)")
    }

    @Test func `help on a Swift type refers to the documentation of the package`() throws {
        let result = try TestFolder().perilune("help", "ScriptHost")
        #expect(result.status == 64)
        #expect(
            result.errors.hasSuffix("; names in Swift are in the documentation that `scripts/docs` builds\n"), "\(result.errors)")
        #expect(try TestFolder().perilune("help", "zzzzzz").errors.hasSuffix("`perilune help` the commands\n"))
    }

    @Test(arguments: [
        ("perilune.open", "help  use perilune.queue(path)"), ("open", "help  use perilune.queue(path)"),
        ("db:connect", "help  use perilune.queue(path)"), ("Class:find_by", "help  use fetch_one(key)"),
        ("perilune.json.parse", "help  use perilune.json.decode(text)"), ("statement:to_sql", "help  use statement:sql()"),
        ("shell", "help  use `perilune console`"), ("perilune.quue", "help  did you mean `perilune.queue`?"),
    ])
    func `help on a name of another library shows what to use in its place`(name: String, help: String) throws {
        let result = try TestFolder().perilune("help", name)
        #expect(result.status == 64)
        #expect(result.errors.contains(help), "\(result.errors)")
    }

    @Test func `help on a subcommand shows the help of that subcommand`() throws {
        let folder = try TestFolder()
        #expect(try folder.perilune("help", "migrate", "new").output.hasPrefix("OVERVIEW: Create a new migration file."))
        let migrate = try folder.perilune("help", "migrate").output
        #expect(migrate.hasPrefix("OVERVIEW: Bring the schema"), "\(migrate)")
        #expect(migrate.contains("perilune migrate new <name>\n"), "\(migrate)")
    }

    @Test func `lines of help are at most 79 characters wide, except for examples and names`() throws {
        for name in ["databases", "requests", "expectations"] {
            let output = try TestFolder().perilune("help", name).output
            for line in output.split(separator: "\n") where line.hasPrefix("      ") { #expect(line.count <= 79, "\(line)") }
        }
    }

    @Test func `the whole reference is printed as JSON`() throws {
        struct Reference: Decodable {
            struct Function: Decodable {
                let name: String
                let signature: String
                let examples: [String]
            }
            let format: Int
            let functions: [Function]
        }
        let result = try TestFolder().perilune("help", "--json")
        #expect((result.status, result.errors) == (0, ""))
        let reference = try JSONDecoder().decode(Reference.self, from: Data(result.output.utf8))
        #expect(reference.format == 1)
        #expect(reference.functions.count > 450)
        #expect(reference.functions.first { $0.name == "db:fetch_all" }?.signature == "db:fetch_all(sql, ...)")
    }
}
