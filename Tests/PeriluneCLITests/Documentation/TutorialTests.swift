import Foundation
import PeriluneTestTools
import Testing

/// Runs the tutorials: saving each file and typing each command must produce the output on the page.
@Suite(.patience, .startsPrograms) struct TutorialTests {
    @Test(arguments: [
        "Perilune/Perilune.docc/Tutorials/TutorialScripts.md", "Perilune/Perilune.docc/Tutorials/TutorialOrderDesk.md",
        "PeriluneScenarios/PeriluneScenarios.docc/TutorialScenarios.md",
    ])
    func `the files and commands of a tutorial produce the output on the page`(page: String) throws {
        let steps = try TutorialPage(of: "\(TestFolder.checkout)/Sources/\(page)").steps
        #expect(steps.count > 6)
        let folder = try TestFolder()
        var commandCount = 0
        for step in steps {
            switch step {
            case .file(let name, let text): try folder.write(text, to: name)
            case .continuedFile(let name, let text): try folder.write(folder.read(name) + "\n" + text, to: name)
            case .command(let command, let expected, let line):
                let output = try folder.terminal(command)
                #expect(expected.matches(output), "\(page):\(line): \(command) printed\n\(output)")
                commandCount += 1
            }
        }
        #expect(commandCount > 2)
    }

    @Test func `output that differs from the page is reported`() {
        let expected = ExpectedOutput(lines: ["1 row   (12 ms, seed e50b)", "..."])
        #expect(expected.matches("1 row   (7 ms, seed 01ab)\nmore\n"))
        #expect(!expected.matches("2 rows   (7 ms, seed 01ab)\nmore\n"))
        #expect(!ExpectedOutput(lines: ["a"]).matches("a\nb\n"))
        #expect(ExpectedOutput(lines: ["applied to .../x.sqlite: book -1"]).matches("applied to /tmp/t/x.sqlite: book -1\n"))
    }
}

/// The files and commands of a page, in order.
private struct TutorialPage {
    enum Step {
        case file(String, String)
        case continuedFile(String, String)
        case command(String, ExpectedOutput, line: Int)
    }

    private(set) var steps: [Step] = []

    init(of path: String) throws {
        let lines = try String(contentsOfFile: path, encoding: .utf8).components(separatedBy: "\n")
        var start: Int?
        for (index, line) in lines.enumerated() where line.hasPrefix("```") {
            if let first = start {
                add(Array(lines[(first + 1)..<index]), language: lines[first].dropFirst(3), at: first + 2)
                start = nil
            } else {
                start = index
            }
        }
    }

    private mutating func add(_ lines: [String], language: Substring, at line: Int) {
        if language == "console" {
            let starts = lines.indices.filter { lines[$0].hasPrefix("$ ") }
            for (start, end) in zip(starts, starts.dropFirst() + [lines.count]) {
                let output = ExpectedOutput(lines: Array(lines[(start + 1)..<end]))
                steps.append(.command(String(lines[start].dropFirst(2)), output, line: line + start))
            }
        } else if let match = lines.first?.wholeMatch(of: #/-- \w+/([\w/]+\.\w+)(, continued)?/#) {
            let text = lines.dropFirst().joined(separator: "\n") + "\n"
            steps.append(match.2 == nil ? .file(String(match.1), text) : .continuedFile(String(match.1), text))
        }
    }
}

/// The output that a page shows. A line `...` matches any lines, and `...` within a line matches any characters. Durations and
/// seeds may differ.
private struct ExpectedOutput {
    let lines: [String]

    func matches(_ output: String) -> Bool {
        var pattern = ""
        for line in lines {
            if line == "..." {
                pattern += #"(?:.*\n)*"#
            } else {
                let parts = Self.normalized(line).components(separatedBy: "...").map(NSRegularExpression.escapedPattern(for:))
                pattern += parts.joined(separator: ".*") + #"\n"#
            }
        }
        return Self.normalized(output).range(of: "^\(pattern)$", options: .regularExpression) != nil
    }

    private static func normalized(_ text: String) -> String {
        text.replacing(#/ *\d+\.\d{2,4} │/#, with: " SECONDS │").replacing(#/\d+ ms/#, with: "N ms").replacing(
            #/seed [0-9a-f]+/#, with: "seed N")
    }
}

extension TestFolder {
    /// Runs a shell command in a terminal of 76 columns without colors, and returns the text on its screen.
    fileprivate func terminal(_ command: String) throws -> String {
        let programs = (Self.binary as NSString).deletingLastPathComponent
        let environment = ["PATH": "\(programs):/usr/bin:/bin", "NO_COLOR": "1", "TERM": "dumb", "PAGER": "cat"]
        let result = try CommandProcess(
            "/usr/bin/script", ["--quiet", "--flush", "--command", "stty cols 76; \(command)", "/dev/null"], in: self,
            environment: environment
        ).wait()
        // A progress line ends with the sequence "erase to the end of the line", and its text is visible only briefly.
        return result.output.replacing("\r\n", with: "\n").replacing(#/[^\n]*\x{1B}\[K/#, with: "").replacing(
            #/\x{1B}\[[0-9;?]*[a-zA-Z>]/#, with: "")
    }
}
