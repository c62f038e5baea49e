import Foundation
import Testing

/// Counts phrases that read like a literal translation in comments, documents and test names. The count may not rise in any file.
///
/// `prose_marks.txt` in the same folder has the counts. After a file has improved, record them with `PERILUNE_RECORD_PROSE=1
/// scripts/test --filter WordingTests`. The article Glossary suggests replacements.
@Suite struct WordingTests {
    private static let record = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "prose_marks.txt")

    /// The number of marks in each file with prose, by path.
    private static let counts: [String: Int] = {
        let files =
            Documentation.files(in: "Sources", ["swift", "c", "h", "md"]) + Documentation.files(in: "lib", ["lua"])
            + Documentation.files(in: "Tests", ["swift", "lua"]) + Documentation.files(in: "scripts", ["lua"])
            + [projectFolder.appending(path: "README.md")]
        let root = projectFolder.path(percentEncoded: false)
        return Dictionary(
            uniqueKeysWithValues: files.compactMap { file in
                let path = String(file.path(percentEncoded: false).trimmingPrefix(root).trimmingPrefix("/"))
                guard !isGenerated(path), !path.hasSuffix("WordingTests.swift") else { return nil }
                return (path, Prose(path: path, text: Documentation.text(of: file)).marks.count)
            })
    }()

    private static func isGenerated(_ path: String) -> Bool {
        path.contains("/Reference/") && path.hasSuffix(".md")
    }

    @Test func `no file gains phrases that read like a translation`() throws {
        #expect(Self.counts.count > 1000)
        if ProcessInfo.processInfo.environment["PERILUNE_RECORD_PROSE"] != nil {
            let lines = Self.counts.filter { $0.value > 0 }.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)\n" }
            try lines.joined().write(to: Self.record, atomically: true, encoding: .utf8)
        }
        let recorded = try String(contentsOf: Self.record, encoding: .utf8).split(separator: "\n").reduce(into: [String: Int]()) {
            let parts = $1.split(separator: " ", maxSplits: 1)
            $0[String(parts[1])] = Int(parts[0])
        }
        for (path, count) in Self.counts.sorted(by: { $0.key < $1.key }) where count > recorded[path, default: 0] {
            let text = Documentation.text(of: projectFolder.appending(path: path))
            let lines = Prose(path: path, text: text).marks.map { "\(path):\($0.line): [\($0.name)] \($0.text)" }
            Issue.record("\(count) marks, recorded are \(recorded[path, default: 0]):\n\(lines.joined(separator: "\n"))")
        }
    }

    @Test func `marked phrases are found in comments and test names, and not in code`() {
        let swift = """
            /// What comes to Swift is a copy.
            func run() { print("what is told") }
            // Returns the copy.
            @Test func `a value that is none is told apart`() {}
            """
        #expect(Prose(path: "Tests/A.swift", text: swift).marks.map(\.line) == [1, 4, 4])
        #expect(Prose(path: "lib/a.lua", text: "-- Anew.\nlocal wholly = 1").marks.map(\.line) == [1])
        #expect(Prose(path: "a.md", text: "Returns.\n```\nwhoever\n```\nA text of SQL.").marks.map(\.line) == [5])
    }

    @Test func `messages do not begin with "there is no"`() {
        let pattern = /^(?!\s*(?:\/\/|--|\*|\/\*))[^"]*"[^"]*\b[Tt]here (?:is|are) (?:no|none)\b/
        let files = Documentation.files(in: "Sources", ["swift", "c", "h"]) + Documentation.files(in: "lib", ["lua"])
        for file in files {
            let lines = Documentation.text(of: file).components(separatedBy: "\n")
            for (index, line) in lines.enumerated() where line.contains("here ") && line.contains(pattern) {
                Issue.record(
                    "\(file.lastPathComponent):\(index + 1): \(line)\nwrite: unknown X, X not found, X does not exist, no X")
            }
        }
    }
}

/// The sentences of a file that people read.
private struct Prose {
    struct Mark {
        let line: Int
        let name: String
        let text: String
    }

    private(set) var marks: [Mark] = []

    init(path: String, text: String) {
        let isDocument = path.hasSuffix(".md"), hasTestNames = path.hasPrefix("Tests/") || path.contains("scenario")
        var isFenced = false
        for (index, line) in text.components(separatedBy: "\n").enumerated() {
            if isDocument {
                if line.drop(while: \.isWhitespace).hasPrefix("```") {
                    isFenced.toggle()
                } else if !isFenced {
                    add(line, at: index + 1)
                }
            } else if hasTestNames, let name = Self.testName(in: line) {
                add(name, at: index + 1)
            } else if let comment = Self.comment(in: line) {
                add(comment, at: index + 1)
            }
        }
    }

    private static let commentPattern = try! NSRegularExpression(pattern: #"^\s*(?:///?|---?|\*\*?|/\*+)\s?(.*?)(?:\*/)?\s*$"#)
    private static let testPattern = try! NSRegularExpression(
        pattern: #"func `([^`]+)`|^\s*(?:test|scenario|group)\(?\s*"([^"]+)""#)

    private static func comment(in line: String) -> String? {
        guard line.contains("/") || line.contains("-") || line.contains("*") else { return nil }
        return group(of: commentPattern, in: line)
    }

    private static func testName(in line: String) -> String? {
        guard line.contains("`") || line.contains("\"") else { return nil }
        return group(of: testPattern, in: line)
    }

    private static func group(of pattern: NSRegularExpression, in line: String) -> String? {
        guard let match = pattern.firstMatch(in: line, range: NSRange(line.startIndex..., in: line)) else { return nil }
        return (1..<match.numberOfRanges).lazy.compactMap { Range(match.range(at: $0), in: line) }.first.map { String(line[$0]) }
    }

    /// Phrases, by habit.
    private static let habits: [(name: String, pattern: NSRegularExpression)] = [
        (
            "a clause in place of a noun",
            #"(?:^|[.:;,] |\b(?:of|is|are|for|by|to|with|from|that|as|than|all) )[Ww]hat (?!is (?:wrong|new|different|missing)|to\b)\w+"#
        ),
        ("that of, those of", #"\b(?:those|that) (?:of|which|who)\b|\bthose that\b"#),
        ("also where", #"\balso (?:where|if|while|when|as|in|of|by|for|after|before|inside|through|on)\b"#),
        ("where for if", #"(?:^|[,;:] )[Ww]here (?:a|an|the|it|there|no|this|they|one|nothing)\b"#),
        ("is no", #"\b(?:is|are|was|were) no (?!longer\b|more\b|such\b)[a-z`]+|\b(?:is|are) none\b"#),
        (
            "of Swift, of Lua",
            #"\b(?:function|call|code|object|string|text|value|type|method|error|extension|table|number|limit|part)s? of (?:Swift|Lua|SQLite|GRDB|SQL|JSON|C|memory|time)\b"#
        ),
        ("say, tell", #"\b(?:tells?|told)\b|\b(?:says?|said) (?:what|which|how|who|when|where|why|of|so|whether)\b"#),
        (
            "archaic",
            #"\b(?:anew|mend(?:s|ed|ing)?|wholly|former(?:ly)?|meanwhile|nevertheless|thereby|whoever|somebody|nobody|beside|hence)\b"#
        ),
        ("posture", #"\b(?:goes|go|comes?|stands?|lies?) (?:on|in|out|by|beside|behind|back|together) (?!each\b)"#),
        ("has X be", #"\b[Hh]as (?:it|them|each|a|the|all) [a-z` ]{1,30} (?:be|say|do|have|see|run|make|take)\b"#),
        ("so many, as it is", #"\bso many\b|\bas (?:it|they) (?:is|are|was|were)\b(?! documented)"#),
    ].map { ($0.0, try! NSRegularExpression(pattern: $0.1, options: .caseInsensitive)) }

    private mutating func add(_ text: String, at line: Int) {
        let range = NSRange(text.startIndex..., in: text)
        for (name, pattern) in Self.habits where pattern.firstMatch(in: text, range: range) != nil {
            marks.append(Mark(line: line, name: name, text: text.trimmingCharacters(in: .whitespaces)))
        }
    }
}
