import Foundation
import Perilune
import PeriluneTestSupport
import Synchronization
import Testing

/// Checks that tests run all code that the documentation shows.
///
/// Each Swift example is part of a test, between the lines `// example` and `// end`, word for word except for the folder of files.
/// Lua examples are run here. Examples that begin with a file name are the files that Swift examples use.
@Suite struct DocumentationTests {
    /// The marked lines in all tests, without indentation.
    private static let examples: [(place: String, lines: [String])] = Documentation.files(in: "Tests", ["swift"]).flatMap {
        file in
        marked(Documentation.text(of: file).components(separatedBy: "\n"), in: file.lastPathComponent)
    }

    private static func marked(_ lines: [String], in file: String) -> [(place: String, lines: [String])] {
        var found: [(place: String, lines: [String])] = []
        var start: Int?
        for (index, line) in lines.enumerated() {
            let content = line.trimmingCharacters(in: .whitespaces)
            if content == "// example" { start = index }
            guard content == "// end", let first = start else { continue }
            let inside = lines[(first + 1)..<index].map { $0.replacing("\\(folder)/", with: "") }
            let indentation = inside.filter { !$0.isEmpty }.map { $0.prefix { $0 == " " }.count }.min() ?? 0
            found.append(("\(file):\(first + 1)", inside.map { String($0.dropFirst(indentation)) }))
            start = nil
        }
        return found
    }

    private static let shown = Documentation.catalog + Documentation.readme + Documentation.comments

    @Test func `each Swift example in the documentation is run by a test, word for word`() {
        let blocks = Self.shown.filter { $0.language == "swift" }
        #expect(blocks.count > 30)
        for block in blocks {
            #expect(
                Self.examples.contains { $0.lines.contains(block.statements) }, "\(block.place): no test has this:\n\(block.text)"
            )
        }
    }

    @Test func `each example that a test runs appears in the documentation`() {
        for example in Self.examples {
            let isShown = Self.shown.contains { $0.language == "swift" && example.lines.contains($0.statements) }
            #expect(isShown, "\(example.place): nothing shows this example")
        }
    }

    @Test func `each Lua example prints its documented output`() async throws {
        let blocks = Documentation.catalog.filter { $0.language == "lua" && $0.fileName == nil }
        #expect(blocks.count >= 3)
        for block in blocks {
            let printed = Mutex<[String]>([])
            var configuration = ScriptHost.Configuration(database: .inMemory())
            configuration.output = .closure { line in printed.withLock { $0.append(line) } }
            try await ScriptHost(configuration).run(source: block.text, named: block.place)
            #expect(printed.withLock { $0 } == block.outputs, "\(block.place)")
            #expect(!block.outputs.isEmpty, "\(block.place)")
        }
    }

    @Test func `the files of the tutorial are a program with the documented output`() async throws {
        let printed = Mutex<[String]>([])
        var configuration = ScriptHost.Configuration()
        configuration.moduleSources = [.folder("\(folder)/library")]
        configuration.output = .closure { line in printed.withLock { $0.append(line) } }
        let host = try await ScriptHost.forTest(migrations: .folder("\(folder)/library/migrations"), configuration)
        for name in ["add_books", "best", "forget"] { try await host.run(file: "\(folder)/library/\(name).lua") }
        #expect(printed.withLock { $0 } == ["4", "Herman Melville\t1\tMoby-Dick", "Jules Verne\t2\tThe Mysterious Island"])
        let count: Int = try await host.run(source: "return db:fetch_value('SELECT COUNT(*) FROM book')")
        #expect(count == 3)
    }

    @Test func `links in the documentation catalog have targets`() throws {
        let pages = Documentation.files(in: "Sources/Perilune/Perilune.docc", ["md"])
        let names = Set(pages.map { $0.deletingPathExtension().lastPathComponent })
        let sources = Documentation.files(in: "Sources/Perilune", ["swift"]).map(Documentation.text(of:)).joined()
        #expect(pages.count >= 6)
        for page in pages {
            let text = Documentation.text(of: page)
            for match in text.matches(of: /<doc:(\w+)>/) { #expect(names.contains(String(match.1)), "\(match.1)") }
            for match in text.matches(of: /``(\w+)``/) where match.1 != "Perilune" {
                let name = NSRegularExpression.escapedPattern(for: String(match.1))
                let declaration = try Regex("public (final )?(actor|class|struct|enum|protocol) \(name)\\b")
                #expect(sources.contains(declaration), "\(page.lastPathComponent): \(match.1)")
            }
        }
    }

    @Test func `links in the README lead to files`() {
        let readme = Documentation.text(of: projectFolder.appending(path: "README.md"))
        let paths = readme.matches(of: /\]\(([\w\/.]+)\)/).map { String($0.1) }
        #expect(paths.count > 20)
        for path in paths { #expect(FileManager.default.fileExists(atPath: projectFolder.appending(path: path).path), "\(path)") }
    }

    @Test func `files that the architecture article names exist`() {
        let page = Documentation.text(of: projectFolder.appending(path: "Sources/Perilune/Perilune.docc/Architecture.md"))
        let paths = page.matches(of: /`((?:\w+\/)+\w+\.(?:swift|c|lua))`/).map { String($0.1) }
        #expect(paths.count > 8)
        for path in paths {
            let places = [path, "Sources/\(path)", "Sources/CPeriluneRows/\(path)", "Sources/CPeriluneRecords/\(path)"]
            #expect(places.contains { FileManager.default.fileExists(atPath: projectFolder.appending(path: $0).path) }, "\(path)")
        }
    }

    @Test func `package products that the quick start names exist`() {
        let manifest = Documentation.text(of: projectFolder.appending(path: "Package.swift"))
        let page = Documentation.text(of: projectFolder.appending(path: "Sources/Perilune/Perilune.docc/QuickStart.md"))
        let names = page.matches(of: /\.product\(name: "(\w+)"/).map { String($0.1) }
        #expect(Set(names) == ["Perilune", "PeriluneTestSupport"])
        for name in names { #expect(manifest.contains(".library(name: \"\(name)\"")) }
    }
}
