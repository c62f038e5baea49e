import Foundation
import Perilune
import Testing

/// Names in the README and on the pages of the catalogs exist: names from Lua, Swift, C and SQL, of files, and of linked symbols.
///
/// `DocumentedCommandTests` checks commands and their options; code blocks are checked by running them.
@Suite struct DocumentedNameTests {
    @Test func `names that the documentation mentions exist`() async throws {
        let names = try await KnownNames.current()
        #expect(DocumentedPage.all.count > 45)
        #expect(DocumentedPage.all.map(\.spans.count).reduce(0, +) > 3_000)
        // The changelog mentions renamed names.
        for page in DocumentedPage.all where !page.path.hasSuffix("/Changelog.md") {
            var seen: Set<String> = []
            for span in page.spans where seen.insert(span.text).inserted {
                let unknown = names.unknownNames(in: span, on: page)
                #expect(unknown.isEmpty, "\(page):\(span.line): `\(span.text)`: \(unknown.joined(separator: ", "))")
            }
        }
    }

    @Test func `links between documentation pages have targets`() {
        let names = Set(DocumentedPage.all.map { URL(filePath: $0.path).deletingPathExtension().lastPathComponent })
        var count = 0
        for page in DocumentedPage.all {
            for match in (Reference.text(of: page.path) ?? "").matches(of: /<doc:(\w+)>/) {
                #expect(names.contains(String(match.1)), "\(page): <doc:\(match.1)>")
                count += 1
            }
        }
        #expect(count > 40)
    }

    @Test func `symbol links in comments refer to declarations`() async throws {
        let declared = try await KnownNames.current().swift
        var count = 0
        for module in [
            "PeriluneLua", "Perilune", "PeriluneDependencies", "PeriluneRecords", "PeriluneScenarios", "PeriluneTestSupport",
        ] {
            for path in KnownNames.files(below: "Sources/\(module)") where path.hasSuffix(".swift") {
                let parts = (Reference.text(of: path) ?? "").components(separatedBy: "``")
                // Every second part is a link.
                for (index, link) in parts.enumerated() where index % 2 == 1 && !link.contains("\n") {
                    let names = link.split { $0 == "/" || $0 == "." }.map { $0.prefix { $0 != "(" && $0 != "-" } }.map(
                        String.init)
                    let unknown = names.filter { !declared.contains($0) && !KnownNames.foreign.contains($0) }
                    #expect(unknown.isEmpty, "\(path): ``\(link)``")
                    count += 1
                }
            }
        }
        #expect(count > 100)
    }

    /// Returns DocC's anchor for a heading.
    private func fragment(_ heading: Substring) -> String {
        heading.filter { $0.isLetter || $0.isNumber || $0 == " " || $0 == "-" }.replacing(" ", with: "-")
    }

    @Test func `each row of the comparison links to a scenario that demonstrates it`() throws {
        let text = try #require(Reference.text(of: "Sources/Perilune/Perilune.docc/ComparisonTables.md"))
        let rows = text.split(separator: "\n").filter { $0.hasPrefix("| ") && !$0.hasPrefix("| feature |") }
        #expect(rows.count > 50)
        for row in rows {
            let match = try #require(
                row.firstMatch(of: /\| \[(\w+): ([^|]+)\]\(doc:(\w+)#([\w-]+)\) \|$/), "\(row) has no link to a scenario")
            // scripts/scenario_pages.lua generates the pages.
            #expect(match.3 == match.1.prefix(1).uppercased() + match.1.dropFirst() + "Scenarios", "\(row)")
            #expect(String(match.4) == fragment(match.2), "\(row)")
            let file = "scripts/scenarios/\(match.1)_scenario.lua"
            let scenarios = try #require(Reference.text(of: file), "\(file)")
            #expect(scenarios.contains("scenario(\"\(match.2)\","), "\(file) has no scenario \"\(match.2)\"")
        }
    }

    @Test func `documented environment variables are read by the code`() {
        let files = KnownNames.files(below: "Sources") + KnownNames.files(below: "Tests/PeriluneLuaFileTools")
        let sources = files.filter { $0.hasSuffix(".swift") || $0.hasSuffix(".c") }.compactMap(Reference.text(of:)).joined()
        var names: Set<String> = []
        for page in DocumentedPage.all {
            Words.forEach(in: Reference.text(of: page.path) ?? "") { word, _ in
                if word.hasPrefix("PERILUNE_") { names.insert(word) }
            }
        }
        #expect(names.count > 1)
        for name in names { #expect(sources.contains("\"\(name)\""), "\(name)") }
    }

    @Test func `the check reports exactly the names that do not exist`() async throws {
        let names = try await KnownNames.current()
        func unknown(_ text: String) -> [String] {
            let page = DocumentedPage(path: "Page.md", text: text)
            return page.spans.flatMap { names.unknownNames(in: $0, on: page) }
        }
        #expect(unknown("Use `db:fetch_everything(sql)` or `db:fetch_all(sql)`.") == ["db:fetch_everything"])
        #expect(unknown("`perilune.jason.encode(x)`, `perilune.json.encode(x)`") == ["perilune.jason"])
        #expect(unknown("`author:books():fitler{ name = 1 }`, `Book:filter_kes(1)`") == ["fitler", "Book:filter_kes"])
        #expect(unknown("the option `on_conflit`, and `on_conflict`") == ["on_conflit"])
        #expect(unknown("``ScriptHosts`` and ``ScriptHost/run(file:)``") == ["ScriptHosts"])
        #expect(unknown("`Sources/Perilune/Nowhere.swift`, `lib/perilune`") == ["Sources/Perilune/Nowhere.swift"])
        #expect(unknown("`{ on_conflit = 1 }`\n\n```lua\nlocal own = 1\n```\n\n`own`") == ["on_conflit"])
        #expect(unknown("| a | Perilune | GRDB |\n|---|---|---|\n| `x` | `db:nothing()` | `invented` |") == ["db:nothing"])
    }
}

extension KnownNames {
    private static let reading = Task { try await read() }

    static func current() async throws -> KnownNames { try await reading.value }

    private static func read() async throws -> KnownNames {
        let reference = try Reference.current.get()
        var names = KnownNames()
        for (name, list) in reference.classes {
            names.lua.formUnion(list.all)
            names.lua.formUnion(name.split(separator: ".").map(String.init))
            if let variable = list.variable { names.members[variable, default: []].formUnion(list.all) }
        }
        // In scripts, an alteration has the same variable name as a definition.
        names.members["t", default: []].formUnion(names.members["alteration"] ?? [])
        // Types for editors are also part of `perilune`.
        names.members["perilune", default: []].formUnion(
            reference.classes.keys.compactMap { $0.split(separator: ".").dropFirst().first.map(String.init) })
        names.lua.formUnion(reference.globals)
        names.lua.formUnion(reference.kinds)
        for function in reference.functions { names.lua.formUnion([function.member] + function.parameters) }
        for text in reference.types + reference.made.filter({ $0.key.hasSuffix(".lua") }).map(\.value) {
            // The values of options, and the fields of tables that are described at their use.
            Words.forEach(in: text) { word, before in
                if [UInt8(ascii: "\""), UInt8(ascii: "{"), UInt8(ascii: "(")].contains(before) { names.lua.insert(word) }
            }
            names.lua.formUnion(text.matches(of: #/[{,] (\w+)\??: /#).map { String($0.1) })
            for match in text.matches(of: /---@(?:alias|class) (?:\(exact\) )?([\w.]+)/) {
                let parts = match.1.split(separator: ".").map(String.init)
                names.lua.formUnion(parts)
                if parts.count > 1 { names.members["perilune", default: []].insert(parts[1]) }
            }
        }
        // The tables and classes of the examples.
        for text in [reference.database] + reference.project.values {
            names.lua.formUnion(text.matches(of: /\w+/).map { String($0.0) })
        }
        let (standard, sql) = try await ofHost()
        names.standard = standard
        names.sql = sql
        names.paths = Set(
            ["Package.swift", "README.md"] + ["Sources", "Tests", "lib", "scripts"].flatMap { [$0] + all(below: $0) })
        for path in names.paths { names.read(path) }
        // The rooms of the library, which are modules in `perilune`.
        for path in names.paths where path.hasPrefix("lib/perilune/") {
            names.members["perilune", default: []].insert(String(path.split(separator: "/")[2].prefix { $0 != "." }))
        }
        return names
    }

    /// The names that Lua and SQLite define.
    private static func ofHost() async throws -> (Set<String>, Set<String>) {
        var configuration = ScriptHost.Configuration(database: .inMemory())
        configuration.libraries = .trusted
        configuration.allowsFiles = true
        let host = try await ScriptHost(configuration)
        let lua: [String] = try await host.run(
            source: """
                local names = {}
                for name, value in pairs(_G) do
                  names[#names + 1] = name
                  if type(value) == "table" and name ~= "perilune" then for member in pairs(value) do names[#names + 1] = tostring(member) end end
                end
                for member in pairs(getmetatable(io.stdout) and getmetatable(io.stdout).__index or {}) do names[#names + 1] = member end
                return names
                """)
        let keywords = """
            and break do else elseif end false for function goto if in local nil not or repeat return then true until while self
            nil boolean number string table function thread userdata debug gethook sethook loadlib __close __gc __index __newindex __call
            __name __tostring __eq __lt __le __len __concat __pairs __metatable
            """.split { $0 == " " || $0 == "\n" }.map(String.init)
        let sql: [String] = try await host.run(
            source: """
                db:execute("SELECT 'a' = 'b' COLLATE unicode")
                return db:fetch_values[[
                  SELECT name FROM pragma_function_list UNION SELECT name FROM pragma_pragma_list UNION SELECT name FROM pragma_collation_list
                  UNION SELECT name FROM pragma_module_list]]
                """)
        return (Set(lua + keywords), Set(sql + ["sqlite_master", "sqlite_schema", "rowid", "excluded"]))
    }

    /// Adds the definitions in a file.
    private mutating func read(_ path: String) {
        let name = URL(filePath: path).lastPathComponent
        sources.formUnion([name, String(name.prefix { $0 != "." && $0 != "+" })])
        let isSwift = path.hasSuffix(".swift"), isC = path.hasSuffix(".h") || path.hasSuffix(".c")
        guard isSwift || isC || path.hasPrefix("lib/perilune/") || path.hasPrefix("lib/scenarios/"),
            let text = Reference.text(of: path)
        else {
            return
        }
        if isSwift {
            // Documented parameters.
            for match in text.matches(of: /\/\/\/ +- (?:Parameter )?(\w+):/) { swift.insert(String(match.1)) }
        }
        var former = "", isInCase = false
        Words.forEach(in: text) { word, before in
            defer { former = word }
            if isSwift {
                // `case one, two`: a comma and a space precede the second name.
                isInCase = former == "case" || isInCase && before == UInt8(ascii: ",")
                if isInCase || Self.declaring.contains(former) { swift.insert(word) }
                if path == "Package.swift", before == UInt8(ascii: "\"") { targets.insert(word) }
            } else if isC {
                // Names in code, not the words of comments.
                if let end = word.firstIndex(of: "_") { sources.insert(String(word[...end])) }
                if word.contains("_") || word.contains(where: \.isUppercase) || before == UInt8(ascii: "\"") {
                    sources.insert(word)
                }
            } else if before == UInt8(ascii: ".") || before == UInt8(ascii: ":") || before == UInt8(ascii: "\"")
                || word.hasPrefix("perilune_")
                || former == "function" || former == "local"
            {
                sources.insert(word)
            }
        }
    }

    private static let declaring: Set<String> = [
        "func", "var", "let", "struct", "class", "enum", "actor", "protocol", "typealias", "associatedtype", "macro",
    ]

    /// Returns the paths of the files in a folder and its subfolders.
    static func files(below folder: String) -> [String] { all(below: folder).filter { URL(filePath: $0).pathExtension != "" } }

    private static func all(below folder: String) -> [String] {
        let names =
            FileManager.default.enumerator(atPath: Reference.root.appending(path: folder).path)?.allObjects as? [String] ?? []
        return names.sorted().map { "\(folder)/\($0)" }
    }
}
