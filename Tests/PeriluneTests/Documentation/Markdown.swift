import Foundation
import PeriluneDependencies

/// The project folder.
let projectFolder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

/// A code block in Markdown text.
struct CodeBlock: CustomStringConvertible {
    let place: String
    let language: String
    let lines: [String]
    var text: String { lines.joined(separator: "\n") }
    var description: String { place }

    /// The file name in its first line, for example `-- seed.lua`.
    var fileName: String? {
        guard let match = lines.first?.wholeMatch(of: /-- ([\w\/]+\.(lua|sql))/) else { return nil }
        return String(match.1)
    }

    /// The output that comments after `-->` document.
    var outputs: [String] {
        lines.compactMap { line in line.range(of: "--> ").map { String(line[$0.upperBound...]) } }
    }

    /// The lines of a Swift block without imports, which are at the top of test files.
    var statements: [String] {
        Array(lines.filter { !$0.hasPrefix("import ") }.drop { $0.isEmpty })
    }

    /// Returns the code blocks in Markdown text whose lines may have a prefix.
    static func all(in text: String, of file: String) -> [CodeBlock] {
        var blocks: [CodeBlock] = []
        var open: (language: String, start: Int, indentation: Int)?
        let lines = text.components(separatedBy: "\n")
        for (index, line) in lines.enumerated() {
            let content = line.trimmingCharacters(in: .whitespaces)
            let isComment = content.hasPrefix("/// ```")
            guard isComment || content.hasPrefix("```") else { continue }
            if let block = open {
                let inside = lines[(block.start + 1)..<index].map { String($0.dropFirst(block.indentation)) }
                blocks.append(CodeBlock(place: "\(file):\(block.start + 1)", language: block.language, lines: inside))
                open = nil
            } else {
                let language = content.dropFirst(isComment ? 7 : 3)
                open = (String(language), index, line.count - content.count + (isComment ? 4 : 0))
            }
        }
        return blocks
    }
}

/// All text for users: the catalogs, the README, and the comments of public declarations.
enum Documentation {
    /// The catalogs without the pages of the Lua reference, whose examples ReferenceTests runs, and without the pages about
    /// scenarios, whose examples are scenarios.
    static let catalog = files(in: "Sources", ["md"]).filter {
        !$0.path.contains("/Reference/") && !$0.path.contains("/PeriluneScenarios.docc/")
    }.flatMap(blocks(of:))
    static let readme = blocks(of: projectFolder.appending(path: "README.md"))
    static let comments = ["Perilune", "PeriluneDependencies", "PeriluneLua", "PeriluneTestSupport"].flatMap {
        blocks(ofFilesIn: "Sources/\($0)", ["swift"])
    }

    static func files(in folder: String, _ extensions: [String]) -> [URL] {
        let names =
            FileManager.default.enumerator(atPath: projectFolder.appending(path: folder).path)?.allObjects as? [String] ?? []
        return names.sorted().map { projectFolder.appending(path: "\(folder)/\($0)") }.filter {
            extensions.contains($0.pathExtension)
        }
    }

    static func text(of file: URL) -> String { (try? String(contentsOf: file, encoding: .utf8)) ?? "" }

    private static func blocks(ofFilesIn folder: String, _ extensions: [String]) -> [CodeBlock] {
        files(in: folder, extensions).flatMap(blocks(of:))
    }

    private static func blocks(of file: URL) -> [CodeBlock] {
        CodeBlock.all(in: text(of: file), of: file.lastPathComponent)
    }
}

/// The files that the catalog shows, in a temporary folder that is removed when the tests end.
let folder = try! makeExampleFiles(in: TemporaryFolder.makeFolder("examples"))

/// Writes the files that the catalog shows to a folder.
@discardableResult
func makeExampleFiles(in folder: String) throws -> String {
    try FileManager.default.createDirectory(atPath: "\(folder)/scripts", withIntermediateDirectories: true)
    for block in Documentation.catalog {
        guard let name = block.fileName else { continue }
        let file = URL(filePath: "\(folder)/\(name)")
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try block.text.write(to: file, atomically: true, encoding: .utf8)
    }
    return folder
}
