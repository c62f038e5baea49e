import ArgumentParser
import Testing

@testable import PeriluneCLI

@Suite(.patience, .startsPrograms) struct OptionTests {
    @Test(arguments: [
        ("1.5", Duration.seconds(1.5)), ("500ms", .milliseconds(500)), ("2s", .seconds(2)), ("1m", .seconds(60)),
        ("0.5h", .seconds(1800)), ("3", .seconds(3)), ("1 s", .seconds(1)), ("1h30m", .seconds(5400)),
    ])
    func `valid durations are parsed`(text: String, time: Duration) throws {
        #expect(try OptionValue.duration(text) == time)
    }

    @Test(arguments: [
        "", "0", "-1", "abc", "1x", "s", "ms", "inf", "nan", "1e3", "0x10", "0.0001", "99999999999999",
    ])
    func `invalid durations are refused`(text: String) {
        #expect(throws: ValidationError.self) { try OptionValue.duration(text) }
    }

    @Test(arguments: [
        ("1000", 1000), ("512K", 512 << 10), ("64M", 64 << 20), ("1G", 1 << 30), ("1.5g", 3 << 29), ("64MiB", 64 << 20),
        ("10B", 10), ("1kB", 1 << 10),
    ])
    func `valid sizes are parsed`(text: String, bytes: Int) throws {
        #expect(try OptionValue.size(text) == bytes)
    }

    @Test(arguments: ["", "0", "-1", "M", "1.5", "1T", "x", "0.0000001K", "99999999999G", "1e9", "nan", "iB"])
    func `invalid sizes are refused`(text: String) {
        #expect(throws: ValidationError.self) { try OptionValue.size(text) }
    }

    @Test func `ascending lists of numbers are parsed, and others are refused`() throws {
        #expect(try OptionValue.counts("7") == [7])
        #expect(try OptionValue.counts("7,12") == [7, 12])
        for text in ["", "0", "-1", "a", "7,", "12,7", "7,7"] {
            #expect(throws: ValidationError.self) { try OptionValue.counts(text) }
        }
    }

    // MARK: - The order of arguments

    @Test(arguments: [
        ("x.lua", "-- x.lua"),
        ("--database d x.lua a -b", "--database d -- x.lua a -b"),
        ("x.lua --database d --readonly a", "--database d --readonly -- x.lua a"),
        ("x.lua --database=d --frob --trace", "--database=d --frob -- x.lua --trace"),
        ("x.lua --databse d a", "--databse -- x.lua d a"), ("x.lua a --frob", "-- x.lua a --frob"),
        ("x.lua -- --frob", "-- x.lua --frob"), ("x.lua --1 --frob", "-- x.lua --1 --frob"),
        ("x.lua a --database d", "-- x.lua a --database d"),
        ("x.lua -- --database d", "-- x.lua --database d"),
        ("x.lua -v", "-- x.lua -v"),
        ("-v -- x.lua --trace", "-v -- x.lua --trace"),
        ("-e code x.lua --trace", "-e code --trace=statements -- x.lua"),
        ("--trace x.lua --trace", "--trace=statements --trace=statements -- x.lua"),
        ("--trace profile x.lua profile", "--trace profile -- x.lua profile"),
        ("x.lua --trace=profile --trace statements -- --trace", "--trace=profile --trace statements -- x.lua --trace"),
        ("--trace -e --trace", "--trace=statements -e --trace"), ("--database --trace x", "--database --trace -- x"),
        ("- a", "-- - a"),
        ("x.lua --database", "--database -- x.lua"),
        ("-e code", "-e code"),
        ("--help", "--help"),
        ("", ""),
    ])
    func `options may follow the script directly`(given: String, arranged: String) {
        let words = { (text: String) in text.split(separator: " ").map(String.init) }
        #expect(RunArguments.arranged(words(given)) == words(arranged))
    }

    @Test(arguments: [
        ("--bail", "--bail"), ("--bail 3 a", "--max-failures=3 a"), ("--bail=2", "--max-failures=2"),
        ("--bail scenarios", "--bail scenarios"),
        ("--coverage", "--coverage=lcov"), ("--coverage scenarios/a", "--coverage=lcov scenarios/a"),
        ("--coverage lcov:x --bail", "--coverage lcov:x --bail"), ("--coverage=lcov:x", "--coverage=lcov:x"),
        ("-- --bail 3", "-- --bail 3"),
    ])
    func `some options of the test command have an optional value`(given: String, arranged: String) {
        let words = { (text: String) in text.split(separator: " ").map(String.init) }
        #expect(TestArguments.arranged(words(given)) == words(arranged))
    }

    @Test func `RunArguments lists all options of the run command`() throws {
        let help = RunCommand.helpMessage()
        let inHelp = Set(help.matches(of: #/--[a-z-]{3,}/#).map { String($0.output) })
        #expect(inHelp.subtracting(["--help", "--version"]) == RunArguments.valued.union(RunArguments.flags))
    }

    private static let commands: [any ParsableCommand.Type] = [
        RunCommand.self, ApplyCommand.self, QueryCommand.self, MigrateCommand.self, TestCommand.self,
        AutomationsCommand.List.self,
        AutomationsCommand.Trace.self, AutomationsCommand.Run.self, AutomationsCommand.Preview.self,
    ]

    @Test(arguments: [
        ("--sandbox", 4), ("--memory", 4), ("--create", 4), ("--rows", 2), ("--color", 9),
        ("--error-format", 9),
    ])
    func `an option that several commands share has the same description in each command`(option: String, count: Int) {
        let lines = Self.commands.compactMap { command in
            command.helpMessage(columns: 1000).split(separator: "\n").first { $0.hasPrefix("  \(option) ") }
        }
        #expect(lines.count == count)
        #expect(Set(lines).count == 1, "\(lines)")
    }

    @Test func `the option for the context has one description for commands that run on a copy and one for others`() {
        let lines = Self.commands.compactMap { command in
            command.helpMessage(columns: 1000).split(separator: "\n").first { $0.hasPrefix("  --context ") }
        }
        #expect(lines.count == 8)
        #expect(Set(lines).count == 2, "\(lines)")
    }

    @Test func `modules are searched next to the script`() {
        func folder(_ sources: ScriptSource...) -> String { ScriptRequest(sources: sources).moduleFolder }
        #expect(folder(.file("a/b/c.lua")) == "a/b")
        #expect(folder(.file("/c.lua")) == "/")
        #expect(folder(.file("c.lua")) == ".")
        #expect(folder(.standardInput) == ".")
        #expect(folder(.code("", number: 1), .file("a/c.lua")) == "a")
    }

    // MARK: - Parameters of queries

    @Test(arguments: [
        ("a=12", Cell.integer(12)), ("a=-1", .integer(-1)), ("a=9223372036854775807", .integer(.max)),
        ("a=9223372036854775808", .text(Array("9223372036854775808".utf8))), ("a=007", .text(Array("007".utf8))),
        ("a=1.5", .real(1.5)), ("a=1e3", .real(1000)), ("a=1e999", .text(Array("1e999".utf8))), ("a=e", .text([101])),
        ("a=null", .null), ("a=true", .boolean(true)), ("a=false", .boolean(false)), ("a=", .text([])),
        ("a=x=y", .text(Array("x=y".utf8))), (":a=1", .integer(1)), ("@a=1", .integer(1)),
        ("a:text=12", .text([49, 50])),
        ("a:integer=007", .integer(7)), ("a:real=2", .real(2)), ("a:boolean=1", .boolean(true)),
        ("a:blob=00fF", .blob([0, 255])), ("a:text=null", .text(Array("null".utf8))),
        ("a=inf", .text(Array("inf".utf8))),
    ])
    func `query parameters are parsed`(text: String, value: Cell) throws {
        let parameter = try QueryParameter(text)
        #expect(parameter.name == "a")
        #expect(parameter.value == value)
    }

    @Test(arguments: [
        "", "a", "=1", ":=1", "a:float=1", "a:integer=x", "a:real=nan", "a:blob=0", "a:blob=zz", "a:boolean=2",
    ])
    func `invalid query parameters are refused`(text: String) {
        #expect(throws: ValidationError.self) { try QueryParameter(text) }
    }

    // MARK: - Exit status

    @Test func `a parameter that is not UTF-8 is refused`() throws {
        let bytes = Array("1=".utf8) + [0xFF], text = String(decoding: bytes, as: UTF8.self)
        #expect(!RawArguments.contain(text, among: [Array("query".utf8), bytes]))
        // The replacement character itself is ordinary text.
        #expect(RawArguments.contain(text, among: [Array("query".utf8), Array("--parameter=\(text)".utf8)]))
        let folder = try TestFolder()
        let result = try folder.shell(#"$PERILUNE query -p "$(printf 'a=x\377')" 'SELECT hex(:a)'"#)
        #expect(result.status == 64 && result.errors.contains("name:blob=HEX"), "\(result.output)\(result.errors)")
        #expect(
            try folder.shell(#"$PERILUNE query -p "$(printf 'a=\357\277\275')" 'SELECT hex(:a) AS h'"#).output
                == "{\"h\":\"EFBFBD\"}\n")
    }

    @Test(arguments: [
        ("runtime", 1), ("syntax", 65), ("timeout", 5), ("memory", 5), ("budget", 5), ("cancelled", 130), ("busy", 75),
        ("busy_snapshot", 75), ("locked", 75), ("notadb", 65), ("corrupt_index", 65), ("ioerr_read", 74),
        ("cannot_open", 74), ("constraint_unique", 1), ("usage", 64), ("anything", 1),
    ])
    func `the kind of an error decides the exit status`(kind: String, status: Int32) {
        #expect(ExitStatus.status(forKind: kind) == status)
    }

    @Test func `an exit status that is out of range is a failure`() {
        #expect(ExitStatus.status(requested: 7) == 7)
        for status in [256, -1, Int64.max] { #expect(ExitStatus.status(requested: status) == 1) }
    }
}
