import Foundation
import Testing

/// The rules of the article Glossary for messages and comments, as far as a search can check them.
@Suite struct WordingTests {
    /// The sources and the pages; the glossary shows what is not to be written.
    private static let files =
        Documentation.files(in: "Sources", ["swift", "c", "h", "md"]).filter { $0.lastPathComponent != "Glossary.md" }
        + Documentation.files(in: "lib", ["lua"])

    /// Records an issue for each line that has the word and matches the pattern.
    private func expectNo(
        _ pattern: Regex<Substring>, _ word: String, but cure: String, in files: [URL] = files, where isChecked: (String) -> Bool = { _ in true }
    ) {
        for file in files {
            let text = Documentation.text(of: file)
            guard text.range(of: word, options: .caseInsensitive) != nil else { continue }
            for (index, line) in text.components(separatedBy: "\n").enumerated() {
                guard line.range(of: word, options: .caseInsensitive) != nil, isChecked(line), line.contains(pattern) else { continue }
                Issue.record(
                    "\(file.lastPathComponent):\(index + 1): \(line.trimmingCharacters(in: .whitespaces))\nwrite: \(cure)")
            }
        }
    }

    @Test func `messages and comments are written in the words of the glossary`() {
        #expect(Self.files.count > 600)
        expectNo(/\b(?i:is|are|be|been|was|were) told\b/, "told", but: "is called with, is notified of, is reported")
        expectNo(/\b(?i:whoever)\b/, "whoever", but: "the caller, the function, the script, another process")
        expectNo(/\b(?i:somebody|nobody)\b/, "body", but: "the caller, the function, the script, another process")
        expectNo(/\b(?i:so many|so often)\b(?! (?:that|would))/, "so ", but: "the number of, this number of")
        expectNo(/manieth/, "manieth", but: "the position of")
        expectNo(/\b(?i:is|are) none of\b/, "none of", but: "is not one of")
    }

    @Test func `tests and examples are named and explained in the words of the glossary`() {
        let files = (Documentation.files(in: "Tests", ["swift", "lua"]) + Documentation.files(in: "scripts", ["lua"])).filter {
            $0.lastPathComponent != "WordingTests.swift"
        }
        #expect(files.count > 250)
        // Comments and names; what stands in the code may be data.
        func isProse(_ line: String) -> Bool { line.contains(/\/\/|--|\bfunc `|^\s*(?:test|scenario|group)\(/) }
        func expectNo(_ pattern: Regex<Substring>, _ word: String, but cure: String) {
            self.expectNo(pattern, word, but: cure, in: files, where: isProse)
        }
        expectNo(/\b(?i:is|are|be|been|was|were) told\b(?! (?:apart|from))/, "told", but: "is reported, is notified of")
        expectNo(/\b(?i:whoever)\b/, "whoever", but: "the caller, the function, the script, another process")
        expectNo(/\b(?i:somebody)\b/, "somebody", but: "the caller, the function, the script, another process")
        expectNo(/\bnobody\b(?!["'])/, "nobody", but: "the caller, the function, the script, another process")
        expectNo(/\b(?i:so many|so often)\b(?! (?:that|would))/, "so ", but: "the number of, a limited number")
        expectNo(/\b(?i:is|are) none of\b/, "none of", but: "is not one of")
    }

    @Test func `messages do not say that there is no such thing`() {
        // In a string literal; comments may say so.
        expectNo(
            /^(?!\s*(?:\/\/|--|\*|\/\*))[^"]*"[^"]*\b[Tt]here (?:is|are) (?:no|none)\b/, "there ",
            but: "unknown X, X not found, X does not exist, no X")
    }
}
