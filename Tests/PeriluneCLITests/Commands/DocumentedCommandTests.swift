import Foundation
import Testing

@testable import PeriluneCLI

/// Checks that all commands and options in the documents and in the commands' own help exist.
@Suite struct DocumentedCommandTests {
    private let root: CommandDescription

    init() throws {
        root = try CommandDescription.read(PeriluneCommand.self)
    }

    @Test func `commands and options that the documentation mentions exist`() throws {
        let pages = try Self.pages()
        #expect(pages.count > 45)
        let uses = pages.flatMap { page in Self.uses(in: page.text).map { (page.path, $0) } }
        #expect(uses.count > 60)
        for (path, use) in uses {
            let mistake = mistake(in: use)
            #expect(mistake == nil, "\(path): perilune \(use): \(mistake ?? "")")
        }
    }

    @Test func `options that the documentation mentions without a command exist`() throws {
        let scripts = try FileManager.default.contentsOfDirectory(atPath: TestFolder.checkout + "/scripts").compactMap {
            try? String(contentsOfFile: "\(TestFolder.checkout)/scripts/\($0)", encoding: .utf8)
        }
        let known = root.all.reduce(into: Self.options(in: scripts.joined(separator: "\n"))) { $0.formUnion($1.options) }
        var count = 0
        // The pages for users of other tools mention the options of those tools.
        for page in try Self.pages() where !page.path.contains("/ComingFrom") {
            for part in page.text.components(separatedBy: "`--").dropFirst() {
                let name = String(part.prefix { $0.isLetter || $0 == "-" })
                // `--` alone ends the options or begins a comment.
                guard name.first?.isLetter == true else { continue }
                #expect(known.contains(name), "\(page.path): --\(name)")
                count += 1
            }
        }
        #expect(count > 25)
    }

    @Test func `commands and options that help texts mention exist`() {
        let uses = root.all.flatMap { command in Self.uses(in: command.discussion ?? "").map { (command.commandName, $0) } }
        #expect(uses.count > 30)
        for (name, use) in uses {
            let mistake = mistake(in: use)
            #expect(mistake == nil, "help \(name): perilune \(use): \(mistake ?? "")")
        }
    }

    @Test func `the check reports a command and an option that do not exist`() {
        #expect(mistake(in: "rnu script.lua") == "no command rnu")
        #expect(mistake(in: "run script.lua --databse shop.sqlite") == "no option --databse")
        #expect(mistake(in: "run script.lua --database shop.sqlite") == nil)
        #expect(mistake(in: "automations tarce") == "no command tarce")
        #expect(mistake(in: "migrate new name --sql") == nil)
        #expect(Self.uses(in: "a perilune query --x\n`perilune run -` and perilune is") == ["query --x", "run -"])
    }

    // MARK: - Reading

    /// The README and the pages of the catalogs.
    private static func pages() throws -> [(path: String, text: String)] {
        let names = FileManager.default.enumerator(atPath: TestFolder.checkout + "/Sources")?.allObjects as? [String] ?? []
        return try (["README.md"] + names.filter { $0.hasSuffix(".md") }.sorted().map { "Sources/" + $0 }).map {
            ($0, try String(contentsOfFile: "\(TestFolder.checkout)/\($0)", encoding: .utf8))
        }
    }

    /// The text after `perilune` in code lines and code spans, up to the end, a pipe, or the next command.
    private static func uses(in text: String) -> [String] {
        var uses: [String] = []
        for line in text.components(separatedBy: "\n") where line.contains("perilune ") {
            for match in line.matches(of: #/(?:^|[`\/ (])perilune ((?:[a-z-]+|--[a-z-]+)\b[^`#\n]*)/#) {
                for call in String(match.1).components(separatedBy: "perilune ") {
                    let use = call.replacing(#/ [|&>] .*$/#, with: "").trimmingCharacters(in: .whitespaces)
                    if !isSentence(use) { uses.append(use) }
                }
            }
        }
        return uses
    }

    /// Returns whether the text is a sentence about Perilune rather than a call of the command.
    private static func isSentence(_ text: String) -> Bool {
        ["is", "has", "reads", "records", "types for"].contains { text == $0 || text.hasPrefix($0 + " ") }
    }

    private static func options(in text: String) -> Set<String> {
        Set(text.matches(of: /--([a-z][a-z-]*)/).map { String($0.1) })
    }

    /// Returns the mistake in a command line; `nil` if it has none.
    private func mistake(in use: String) -> String? {
        let words = use.split(separator: " ").map(String.init)
        var command = root, position = 0
        if words.first == "migrate", words.dropFirst().first == "new" {
            return unknownOption(in: use, root.find("migrate-new") ?? root)
        }
        while position < words.count, command.subcommands?.isEmpty == false, words[position].wholeMatch(of: /[a-z][a-z-]*/) != nil
        {
            if words[position] == "help" { return nil }
            guard let next = command.find(words[position]) else { return "no command \(words[position])" }
            command = next
            position += 1
        }
        return unknownOption(in: use, command)
    }

    private func unknownOption(in use: String, _ command: CommandDescription) -> String? {
        // A command group accepts the options of all its subcommands, which are listed on one line with a bar between them.
        var known = command.all.reduce(into: Set<String>()) { $0.formUnion($1.options) }
        // It accepts the options of `run` and passes them on.
        if command.commandName == "watch" { known.formUnion(root.find("run")?.options ?? []) }
        let outsideQuotes = use.replacing(/'[^']*'|"[^"]*"/, with: "")
        return Self.options(in: outsideQuotes).subtracting(known).sorted().first.map { "no option --\($0)" }
    }
}

extension CommandDescription {
    /// The names of the command's long options.
    fileprivate var options: Set<String> {
        Set((arguments ?? []).flatMap { $0.names ?? [] }.filter { $0.kind == "long" }.map(\.name))
    }

    fileprivate func find(_ name: String) -> CommandDescription? { subcommands?.first { $0.commandName == name } }
}
