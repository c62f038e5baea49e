import Foundation
import PeriluneTestTools
import Testing

/// The output of `perilune test` on a terminal, and the keys that it accepts.
@Suite(.startsPrograms) struct TestTerminalTests {
    private static let endless = [
        "scenarios/a_scenario.lua": """
        scenario("of a title that is wider than the window of its reader", { timeout = "15m" }, function(t)
          while true do end
        end)
        """
    ]
    private static let failing = [
        "scenarios/a_scenario.lua": """
        scenario("good", function(t) end)
        scenario("bad \\27[31m\\n title", function(t) print("\\27[2J\\r") error("\\27[1mno\\nand no") end)
        """
    ]

    @Test func `the key t and the signal USR1 show the running scenarios`() throws {
        let process = try TerminalProcess(["test"], in: TestFolder(Self.endless))
        // The progress line appears after half a second, when the scenario is running and keys are accepted.
        let isRunning = process.shows("0/1")
        process.press("xt")
        let showsForKey = process.shows("scenarios/a_scenario.lua:1  of a title")
        process.forget()
        process.send(SIGUSR1)
        let showsForSignal = process.shows("running for")
        process.press("\u{3}")
        let status = process.wait()
        #expect(isRunning && showsForKey && showsForSignal && status == 130)
    }

    @Test func `the progress of a test run is one line that fits the window and is erased`() throws {
        let process = try TerminalProcess(["test"], in: TestFolder(Self.endless), columns: 30)
        let isDrawn = process.shows("0/1  of a title that is")
        process.resize(to: 20)
        // Later lines are narrower, though one wide line may still be in transit.
        let isNarrower = process.redraws { $0.hasPrefix("0/1  of a titl") && $0.count < 20 }
        process.forget()
        let isDrawnAgain = process.shows("\r\u{1B}[K0/1  of a titl")
        process.press("\u{3}")
        let status = process.wait()
        #expect(isDrawn && isNarrower && isDrawnAgain && status == 130)
        let text = process.text
        let lines = text.split(separator: "\r\u{1B}[K").filter { $0.hasPrefix("0/1") }
        #expect(lines.allSatisfy { $0.prefix { $0 != "\r" && $0 != "^" }.count < 20 }, "\(lines)")
        // The report starts on an erased line.
        #expect(text.contains("\r\u{1B}[K0 passed") || text.contains("\r\u{1B}[K\u{1B}"), "\(text)")
    }

    @Test func `colors are used on terminals`() throws {
        let process = try TerminalProcess(["test"], in: TestFolder(Self.failing))
        let status = process.wait()
        let text = process.text
        #expect(status == 1)
        #expect(text.contains("\u{1B}[1;31mFAIL\u{1B}[0m"), "\(text)")
        #expect(text.contains("\u{1B}[32m1 passed\u{1B}[0m"))
    }

    @Test(arguments: [([], ["NO_COLOR": "1"]), (["--color", "never"], [:]), ([], ["TERM": "dumb"])])
    func `colors are not used if they are disabled`(arguments: [String], environment: [String: String]) throws {
        let process = try TerminalProcess(["test"] + arguments, in: TestFolder(Self.failing), environment: environment)
        let status = process.wait()
        let text = process.text
        #expect(status == 1)
        // The progress line of a slow run may be drawn and erased.
        #expect(text.firstMatch(of: /\u{1B}\[[0-9;]*m/) == nil, "\(text)")
    }

    @Test func `control characters in titles and output are escaped`() throws {
        let folder = try TestFolder(Self.failing)
        let result = try folder.perilune(
            "test", "--report", "pretty", "--report", "tap:out.tap", "--report", "junit:out.xml", "--verbose")
        #expect(result.status == 1)
        let tap = try String(contentsOfFile: folder.path + "/out.tap", encoding: .utf8)
        let xml = try String(contentsOfFile: folder.path + "/out.xml", encoding: .utf8)
        for text in [result.output, tap, xml] {
            #expect(!text.contains("\u{1B}") && !text.contains("\r"), "\(text)")
        }
        #expect(result.output.contains("bad \\u{1b}[31m\\n title"), "\(result.output)")
        #expect(tap.contains("bad \\\\u{1b}[31m\\\\n title\n"), "\(tap)")
    }

    @Test func `colors can be enabled without a terminal`() throws {
        let result = try TestFolder(Self.failing).perilune("test", "--color", "always")
        #expect(result.output.contains("\u{1B}[1;31mFAIL"))
    }
}
