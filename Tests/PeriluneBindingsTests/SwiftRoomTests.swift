import Foundation
import Testing

/// The Swift targets and their rooms in layer order. Files outside of the rooms may use all rooms of their target.
///
/// `PeriluneLua` is not listed: its state, values and functions depend on each other, so its rooms only group files.
private let order: [(target: String, rooms: [String])] = [
    ("PeriluneRecords", ["Text", "SQL", "Dates", "Schema", "Requests", "Migrations", "Places"]),
    ("PeriluneCluster", ["Failures", "Engine", "Connection", "Session", "Shadow"]),
    (
        "PeriluneBindings",
        ["Errors", "Values", "Environment", "Loading", "Database", "Opening", "Requests", "Loop", "Observation", "Migrations"]
    ),
    ("PeriluneIsolation", ["Layers", "Frames", "Processes"]),
    (
        "Perilune",
        [
            "Files", "Bytes", "Tracing", "DefaultDatabase", "Tables", "Changesets", "Messages", "Modules", "Loop", "Host",
            "Preview", "Errors", "Checking", "Observation", "Records", "Automation", "Isolation",
        ]
    ),
    ("PeriluneScenarios", ["Model", "States", "Databases", "Collecting", "Reports", "Running", "Isolation"]),
    (
        "PeriluneCLI",
        [
            "Output", "Evaluation", "Settings", "Engine", "Doctor", "Isolation", "Query", "Dump", "Import", "Restore",
            "Migrations",
            "Projects", "Watching", "Preview", "Automations", "Scenarios", "Manual", "Charts", "Console", "Schema", "Commands",
        ]
    ),
]

/// The direction of dependencies between the rooms of Swift targets, found by the names of types.
@Suite struct SwiftRoomTests {
    private let house: SwiftHouse
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    init() throws {
        var sources: [String: String] = [:]
        for (target, _) in order {
            let folder = Self.root.appending(path: "Sources/\(target)")
            for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path) where path.hasSuffix(".swift") {
                sources["\(target)/\(path)"] = try String(contentsOf: folder.appending(path: path), encoding: .utf8)
            }
        }
        house = SwiftHouse(sources: sources, order: order)
    }

    @Test func `every Swift file belongs to a room in the layer order`() {
        #expect(house.files.count > 500)
        #expect(house.strangers == [])
    }

    @Test func `no file uses a type of a higher room`() {
        #expect(house.uses.count > 1_000)
        #expect(house.usesUpward == [])
    }

    @Test func `the architecture article lists the rooms in their layer order`() throws {
        let article = try String(
            contentsOf: Self.root.appending(path: "Sources/Perilune/Perilune.docc/Architecture.md"), encoding: .utf8)
        for (target, rooms) in order {
            let entry = try #require(article.firstRange(of: "\n- `\(target)`: "), "\(target) is missing")
            let text = article[entry.upperBound...]
            let end = text.firstRange(of: "\n- ")?.lowerBound ?? text.endIndex
            let listed = text[..<end].matches(of: /\*([A-Z]\w+)\*/).map { String($0.1) }
            #expect(listed == rooms, "\(target)")
        }
    }

    @Test func `only the command-line tool imports the cluster module`() throws {
        let folder = Self.root.appending(path: "Sources")
        var importers: Set<String> = []
        for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path) where path.hasSuffix(".swift") {
            let text = try String(contentsOf: folder.appending(path: path), encoding: .utf8)
            if text.contains(/import C?PeriluneCluster\b/) { importers.insert(String(path.prefix { $0 != "/" })) }
        }
        #expect(importers == ["PeriluneCLI", "PeriluneCluster"])
    }

    @Test func `a use of a higher room is found with its line`() {
        let house = SwiftHouse(
            sources: [
                "Target/Low/Low.swift": """
                /// Not a use: High
                struct Low {
                    let text = "High \\" High"
                    let long = \"""
                        High
                        \"""
                    let value: High?
                }
                private struct Hidden {}
                """,
                "Target/High/High.swift": "public final class High { let low: Low; let hidden: Hidden }\nstruct Hidden {}",
                "Target/All.swift": "enum All { typealias Part = High }",
                "Target/Attic/Junk.swift": "let all = All.self",
            ], order: [("Target", ["Low", "High"])])
        #expect(house.strangers == ["Target/Attic/Junk.swift"])
        #expect(house.usesUpward == ["Target/Low/Low.swift:7 uses High of Target/High/High.swift"])
    }
}

/// The files of Swift targets, with the types that they define and use.
private struct SwiftHouse {
    struct Use {
        let file: String
        let line: Int
        let name: String
        let definer: String
    }

    let files: [String: [String]]
    /// The uses of types that are defined once in another file of the target.
    let uses: [Use]
    private let order: [(target: String, rooms: [String])]

    init(sources: [String: String], order: [(target: String, rooms: [String])]) {
        self.order = order
        let files = sources.mapValues(Self.lines)
        self.files = files
        var definers: [String: [String: Set<String>]] = [:]
        for (path, lines) in files {
            for line in lines {
                if let name = Self.name(definedBy: line) {
                    definers[Self.target(path), default: [:]][name, default: []].insert(path)
                }
            }
        }
        var uses: [Use] = []
        for (path, lines) in files {
            guard let known = definers[Self.target(path)] else { continue }
            // A private type of the file hides a type of the target with the same name.
            var seen: Set<Substring> = []
            for line in lines {
                if let name = Self.name(definedBy: line, isPrivate: true) { seen.insert(name[...]) }
            }
            for (index, line) in lines.enumerated() {
                for word in Self.words(line) where word.first!.isUppercase && seen.insert(word).inserted {
                    guard let places = known[String(word)], places.count == 1, let definer = places.first, definer != path else {
                        continue
                    }
                    uses.append(Use(file: path, line: index + 1, name: String(word), definer: definer))
                }
            }
        }
        self.uses = uses
    }

    private static func target(_ path: String) -> String { String(path.prefix { $0 != "/" }) }

    /// Returns the position of a file's room in the layer order of its target; `nil` if the room is not listed.
    private func height(_ path: String) -> Int? {
        let parts = path.split(separator: "/").map(String.init)
        guard let rooms = order.first(where: { $0.target == parts[0] })?.rooms else { return nil }
        return parts.count == 2 ? rooms.count : rooms.firstIndex(of: parts[1])
    }

    var strangers: [String] { files.keys.filter { height($0) == nil }.sorted() }

    var usesUpward: [String] {
        uses.compactMap { use in
            guard let low = height(use.file), let high = height(use.definer), high > low else { return nil }
            return "\(use.file):\(use.line) uses \(use.name) of \(use.definer)"
        }.sorted()
    }

    // MARK: - Source text

    /// Returns the lines of a source without comments and strings.
    private static func lines(_ source: String) -> [String] {
        var lines: [String] = []
        var isInLongString = false
        for line in source.split(separator: "\n", omittingEmptySubsequences: false) {
            let parts = line.split(separator: "\"\"\"", omittingEmptySubsequences: false)
            if parts.count == 2 {
                lines.append(isInLongString ? code(parts[1]) : code(parts[0]))
                isInLongString.toggle()
            } else {
                lines.append(isInLongString ? "" : code(line))
            }
        }
        return lines
    }

    private static func code(_ line: Substring) -> String {
        var (result, isString, former) = ("", false, Character(" "))
        for character in line {
            if isString {
                if character == "\"", former != "\\" { isString = false }
                former = former == "\\" && character == "\\" ? " " : character
                continue
            }
            if character == "\"" {
                isString = true
            } else if character == "/", former == "/" {
                return result
            } else {
                result.append(character)
            }
            former = character
        }
        return result
    }

    private static func words(_ line: String) -> [Substring] {
        line.split { !($0.isLetter || $0.isNumber || $0 == "_") }
    }

    /// Returns the type that a line defines, for the whole target or for its file.
    private static func name(definedBy line: String, isPrivate: Bool = false) -> String? {
        guard let first = line.first, !first.isWhitespace else { return nil }
        let words = words(line)
        guard
            let keyword = words.firstIndex(where: { ["struct", "class", "enum", "actor", "protocol", "typealias"].contains($0) }),
            keyword + 1 < words.count,
            !words[..<keyword].contains(where: { ["extension", "import", "func", "let", "var"].contains($0) }),
            words[..<keyword].contains(where: { ["private", "fileprivate"].contains($0) }) == isPrivate
        else { return nil }
        return String(words[keyword + 1])
    }
}
