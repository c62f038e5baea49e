import Foundation
import Perilune
import PeriluneLuaFileTools
import Testing

@Suite struct ReadmeTests {
    @Test func `the Lua examples in the README run`() async throws {
        let readme = try String(contentsOf: projectFolder.appending(path: "README.md"), encoding: .utf8)
        let examples = blocks(of: "lua", in: readme)
        #expect(!examples.isEmpty)
        for example in examples { try await run(example) }
    }

    /// Runs an example, and compares its output with its comments that begin with `-->`.
    private func run(_ example: String) async throws {
        let expected = example.components(separatedBy: "\n").compactMap { line -> String? in
            line.range(of: "--> ").map { String(line[$0.upperBound...]) }
        }
        let capture = """
            local printed = {} \
            function print(...) \
              local texts = table.pack(...) \
              for i = 1, texts.n do texts[i] = tostring(texts[i]) end \
              printed[#printed + 1] = table.concat(texts, "\\t") \
            end \

            """
        let list = expected.map { "[====[\($0)]====]" }.joined(separator: ", ")
        try await waitingHost().runChecked("\(capture)\(example)\nequal(printed, { \(list) })")
    }
}

/// Returns the code blocks of a language in Markdown text.
func blocks(of language: String, in markdown: String) -> [String] {
    markdown.components(separatedBy: "```\(language)\n").dropFirst().compactMap {
        $0.components(separatedBy: "\n```").first
    }
}

/// The folder of the project, relative to this file.
let projectFolder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
