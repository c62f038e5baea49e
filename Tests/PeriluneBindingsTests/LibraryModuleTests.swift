import Foundation
import PeriluneBindings
import PeriluneLua
import PeriluneLuaFileTools
import Testing

/// The dependencies between the modules of `lib`, found in their text.
@Suite struct LibraryModuleTests {
    /// The rooms of lib/perilune in layer order. Each room may use only the rooms before it. Files outside the rooms may use all
    /// of them.
    private static let rooms = [
        "native", "runtime", "schema", "databases", "migrations", "expressions", "records", "requests", "associations", "events",
    ]

    /// The rooms of lib/scenarios in layer order. They may use all of lib/perilune.
    private static let scenarioRooms = ["native", "base", "reports", "defining", "tables", "data", "expectations", "context"]

    @Test func `every room is a folder, and every folder is a room`() {
        #expect(Set(LibraryFile.all.compactMap(\.room)) == Set(Self.rooms))
        let folders = LibraryFile.all.map { $0.name.split(separator: ".") }.filter { $0[0] == "scenarios" && $0.count > 2 }
        #expect(Set(folders.map { String($0[1]) }) == Set(Self.scenarioRooms))
    }

    @Test func `library modules require only modules of their own room and of lower rooms`() {
        let upward = LibraryFile.all.flatMap { file in
            file.name == "perilune"
                ? [] : file.uses.filter { height(of: $0) > height(of: file.name) }.map { "\(file.name) uses \($0)" }
        }
        #expect(upward == [])
    }

    /// Returns the position of a module in the layer order. The table `perilune`, which all rooms extend, has the lowest
    /// position.
    private func height(of name: String) -> Int {
        let parts = name.split(separator: ".").map(String.init)
        if name == "perilune" { return -1 }
        if parts[0] == "perilune" { return Self.rooms.firstIndex(of: parts[1]) ?? Self.rooms.count }
        let room = parts[0] == "scenarios" && parts.count > 2 ? Self.scenarioRooms.firstIndex(of: parts[1]) : nil
        return Self.rooms.count + 1 + (room ?? Self.scenarioRooms.count)
    }

    @Test func `each library module has one name in all files, and all names differ`() {
        var aliases: [String: Set<String>] = [:]
        var modules: [String: Set<String>] = [:]
        for use in LibraryFile.all.flatMap(\.aliases) {
            aliases[use.module, default: []].insert(use.alias)
            modules[use.alias, default: []].insert(use.module)
        }
        #expect(aliases.count > 100)
        #expect(aliases.filter { $0.value.count > 1 } == [:])
        #expect(modules.filter { $0.value.count > 1 } == [:])
    }

    /// A reader of a module cannot see which other modules change its table.
    @Test func `no library module changes the table of another, except in a few known assignments`() {
        let written = LibraryFile.all.filter { $0.room != "native" && !$0.name.hasPrefix("scenarios.native") }.flatMap(
            \.writesElsewhere)
        #expect(Set(written).sorted() == Self.knownWrites)
    }

    private static let knownWrites = [
        "perilune.associations.association: record_class.parents",
        "perilune.associations.association: request.fetch_associated",
        "perilune.associations.association: request.iterate_associated",
        "perilune.associations.conditions: request.association_condition",
        "perilune.databases.open_blobs: blobs.methods:pieces",
        "perilune.expressions.constructors: marks.resolve_dates",
        "perilune.expressions.constructors: operators.column",
        "perilune.expressions.constructors: operators.common_column",
        "perilune.expressions.constructors: operators.name",
        "perilune.expressions.constructors: operators.named_sql",
        "perilune.expressions.constructors: operators.public",
        "perilune.expressions.constructors: operators.sql",
        "perilune.expressions.constructors: perilune.fn",
        "perilune.expressions.methods: operators.metatable.__index",
        "perilune.expressions.operators: marks.inline_sql",
        "perilune.record_assembly: added_members.load_methods",
        "perilune.records.class: marks.class_info",
        "perilune.records.class: record_fields.ancestors",
        "perilune.records.persistence: record_class.method",
        "perilune.records.persistence: record_options.by_verb.upsert.target",
        "perilune.records.persistence: record_options.by_verb.upsert[option]",
        "perilune.records.statements: marks.statement_sql",
        "perilune.records.types: marks.day_fields",
        "perilune.records.writing: record_class.override",
        "perilune.records.writing: record_options.by_verb.refresh.fields",
        "perilune.requests.added_members: marks.check_statement",
        "perilune.requests.added_members: marks.request_of",
        "perilune.requests.added_members: record_class.request_methods",
        "perilune.requests.inserting: perilune.excluded",
        "perilune.requests.request: shapes.type_of_request",
        "perilune.requests.source: request.of",
        "perilune: databases.methods[name]",
        "scenarios.expectations.expect: matchers[name]",
        "scenarios.running: state.current",
        "scenarios: spawning.watch", "scenarios: spawning.watch_timer",
        "scenarios: state.phase",
    ]

    @Test func `every module that the library requires exists`() {
        let names = Set(LibraryFile.all.map(\.name))
        let missing = LibraryFile.all.flatMap { file in
            file.uses.filter { !names.contains($0) }.map { "\(file.name) requires \($0)" }
        }
        #expect(missing == [])
    }

    @Test func `library modules do not require each other in a cycle while they load`() {
        let files = Dictionary(uniqueKeysWithValues: LibraryFile.all.map { ($0.name, $0.usesWhenLoaded) })
        var done: Set<String> = []
        var circles: [String] = []
        func visit(_ name: String, _ path: [String]) {
            if let start = path.firstIndex(of: name) { return circles.append((path[start...] + [name]).joined(separator: " → ")) }
            guard done.insert(name).inserted || path.isEmpty else { return }
            for used in files[name] ?? [] { visit(used, path + [name]) }
        }
        for name in files.keys.sorted() { visit(name, []) }
        #expect(circles == [])
    }

    @Test func `the SQL that writes a record is built in one module`() {
        let builders = LibraryFile.all.filter { file in
            file.room.map { ["records", "requests", "associations"].contains($0) } == true
                && file.text.contains(/"(INSERT|UPDATE|REPLACE)\b/)
        }
        #expect(builders.map(\.name) == ["perilune.records.sql"])
    }

    @Test(arguments: LibraryFile.natives) func `modules that Swift and C provide have descriptions`(_ file: LibraryFile)
        async throws
    {
        let provided = Provided()
        _ = try testHost { configuration in
            configuration.extending = { loader, _ in
                guard case .table(let table) = try loader.require(file.name) else { return }
                provided.names = try table.pairs().compactMap { pair in
                    if case .string(let name) = pair.key { name.description } else { nil }
                }
            }
        }
        #expect(Set(file.described) == Set(provided.names.filter { !$0.hasPrefix("__") }))
    }

    @Test func `the scenario library uses exactly the described values of the runner`() throws {
        let file = try #require(LibraryFile.all.first { $0.name == "scenarios.native.host" })
        let provided = try LibraryFile.functionsOfRunner()
        #expect(provided.count > 20)
        #expect(Set(file.described) == provided)
        let used = LibraryFile.all.filter { $0.name.hasPrefix("scenarios") }.flatMap { file in
            file.text.matches(of: /state\.(?:host|has)\("(\w+)"\)/).map { String($0.1) }
        }
        #expect(Set(used).subtracting(provided) == [])
    }

    @Test func `scripts cannot require internal library modules`() async throws {
        let host = try testHost()
        for name in ["perilune.records.class", "perilune.native.records", "perilune.require"] {
            await #expect(throws: (any Error).self) { try await host.run(source: "require \"\(name)\"") }
        }
    }

    @Test func `replacing globals in a script does not affect the library`() async throws {
        let host = try testHost()
        try await host.run(
            source: """
                local assert, error_of_script = assert, error
                type, pairs, error, setmetatable, require = nil, nil, nil, nil, nil
                db:execute("CREATE TABLE t (a)")
                local T = perilune.record("t")
                T{ a = 1 }:insert()
                assert(T:filter{ a = 1 }:fetch_count() == 1)
                """)
    }
}

/// Keeps the messages of a host.
private final class Provided: @unchecked Sendable {
    // The value is set while the host is created, and read later on the same thread.
    var names: [String] = []
}

/// A module of `lib`.
struct LibraryFile: Sendable, CustomTestStringConvertible {
    let name: String
    /// The folder in lib/perilune; `nil` for files outside the folders and for scenarios.
    let room: String?
    let text: String

    private static let folder = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().appending(path: "lib").path

    static let all: [LibraryFile] = {
        let paths = FileManager.default.enumerator(atPath: folder)?.allObjects as? [String] ?? []
        // lib/reference describes the API of scripts and is not part of the library.
        return paths.filter { $0.hasSuffix(".lua") && !$0.hasPrefix("reference/") }.sorted().map(LibraryFile.init)
    }()

    /// Whether the module only describes values that Swift or C provides.
    static let natives = all.filter { $0.room == "native" }

    var testDescription: String { name }

    /// The fields of the returned table, found in the source text.
    var described: [String] {
        guard let module = text.firstMatch(of: /(?m)^return (\w+)/)?.1 else { return [] }
        let functions = text.matches(of: /(?m)^function (\w+)\.(\w+)/).filter { $0.1 == module }.map { String($0.2) }
        // The fields of the class that directly precedes the module.
        let lines = text.split(separator: "\n").map(String.init)
        let start = lines.firstIndex { $0 == "local \(module) = {}" } ?? 0
        let fields = lines[..<start].reversed().prefix { $0.hasPrefix("---@field") }
        return functions + fields.compactMap { $0.firstMatch(of: /---@field (\w+)/).map { String($0.1) } }
    }

    /// The values that PeriluneScenarios assigns to `scenarios.native.host`, found in its sources: a runner exists only while
    /// scenarios run.
    static func functionsOfRunner() throws -> Set<String> {
        let sources = URL(filePath: folder).deletingLastPathComponent().appending(path: "Sources/PeriluneScenarios")
        let paths = try FileManager.default.subpathsOfDirectory(atPath: sources.path).filter { $0.hasSuffix(".swift") }
        let names = try paths.flatMap { path in
            try String(contentsOf: sources.appending(path: path), encoding: .utf8)
                .matches(of: /(?:try function|host\.setFunction)\("(\w+)"/).map { String($0.1) }
        }
        return Set(names)
    }

    private init(path: String) {
        let parts = path.dropLast(4).split(separator: "/").map(String.init)
        name = (parts.last == "init" ? parts.dropLast() : parts).joined(separator: ".")
        room = parts.count > 2 && parts[0] == "perilune" ? parts[1] : nil
        text = (try? String(contentsOfFile: "\(Self.folder)/\(path)", encoding: .utf8)) ?? ""
    }

    /// The required modules and their local names.
    var aliases: [(alias: String, module: String)] {
        text.matches(of: /(?m)^local (\w+) = (?:require|lazily)[ (]"([\w.]+)"\)?$/).map { (String($0.1), String($0.2)) }
    }

    /// The assignments to fields of other modules, or of tables inside other modules.
    var writesElsewhere: [String] {
        var names = Set(aliases.filter { $0.module != name }.map(\.alias))
        for local in text.matches(of: /(?m)^local (\w+) = (\w+)\.[\w.]+$/) where names.contains(String(local.2)) {
            names.insert(String(local.1))
        }
        let functions = text.matches(of: /(?m)^ *function (\w+)((?:[.:]\w+)+)/).map { ($0.1, $0.2) }
        let assignments = text.matches(of: /(?m)^ *(\w+)((?:\.\w+|\[[^\]\n]*\])+)(?:, [\w.]+)* =\s/).map { ($0.1, $0.2) }
        return (functions + assignments).filter { names.contains(String($0.0)) }.map { "\(name): \($0.0)\($0.1)" }
    }

    /// The required modules, including modules that functions require later.
    var uses: [String] {
        let required = text.matches(of: /(?:^|[^\w.])(?:require|lazily)[ (]"([\w.]+)"/).map { String($0.1) }
        let whenCalled = text.matches(of: /(?m)(?:on_first_call|^  add)\(.*/).flatMap { call in
            call.0.matches(of: /[" ](perilune\.[\w.]*\w)(?=[" ])/).map { String($0.1) }
        }
        return required + whenCalled
    }

    /// The modules that are required outside functions.
    var usesWhenLoaded: [String] {
        text.matches(of: /(?m)^(?:local [\w, ]+ = )?require[ (]"([\w.]+)"/).map { String($0.1) }.filter { $0 != "perilune" }
    }
}
