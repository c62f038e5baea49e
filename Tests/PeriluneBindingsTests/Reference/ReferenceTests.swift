import CPeriluneLua
import Foundation
import Perilune
import PeriluneBindings
import PeriluneLua
import PeriluneLuaFileTools
import PeriluneScenarios
import Synchronization
import Testing

/// The reference is complete and correct, and all generated files are up to date.
@Suite struct ReferenceTests {
    private let reference: Reference

    init() throws {
        reference = try Reference.current.get()
    }

    static let functions = (try? Reference.current.get().functions) ?? []

    // MARK: - Completeness

    @Test func `each function in the reference has a description, an example, errors and a context`() {
        #expect(reference.functions.count > 450)
        for function in reference.functions {
            #expect(!function.text.isEmpty, "\(function): no description")
            #expect(!function.examples.isEmpty, "\(function): no example")
            #expect(function.raises != nil, "\(function): nothing about errors; write @raises none if there is none")
            #expect(function.access != nil, "\(function): nothing about where it may be called")
            #expect(function.described == function.parameters, "\(function): the parameters are others than those described")
        }
    }

    @Test func `no function is listed twice in the reference`() {
        let names = Dictionary(grouping: reference.functions) { "\($0.name) of \($0.page)" }
        // The blocks of create_table and alter_table both name their parameter `t`.
        #expect(names.filter { $1.count > 1 }.keys.sorted() == [])
    }

    @Test func `each class has a plain name, without the class that it extends`() {
        #expect(reference.classes.count > 80)
        #expect(reference.classes.keys.filter { $0.contains { !$0.isLetter && !$0.isNumber && $0 != "_" && $0 != "." } } == [])
    }

    @Test func `each documented error kind is listed in the reference`() {
        let used = Set(reference.functions.flatMap { $0.raises ?? [] })
        // `constraint_*` represents all kinds with that prefix.
        let unknown = used.filter { kind in
            !reference.kinds.contains { kind.hasSuffix("*") ? $0.hasPrefix(kind.dropLast()) : $0 == kind }
        }
        #expect(unknown.sorted() == [])
    }

    // MARK: - Correctness

    @Test func `the reference contains exactly the names that scripts can reach`() async throws {
        let real = try await Self.realNames()
        #expect(real.count > 40)
        for (name, members) in real.sorted(by: { $0.key < $1.key }) {
            let documented =
                name == "words"
                ? Reference.Class(own: Self.words(reference), all: Self.words(reference)) : reference.classes[name]
            guard let documented else {
                Issue.record("the reference has no class \(name)")
                continue
            }
            let missing = members.subtracting(documented.all).sorted()
            #expect(missing == [], "\(name): not in the reference")
            let invented = Set(documented.own).subtracting(members).sorted()
            #expect(invented == [], "\(name): in the reference only")
        }
    }

    /// The global names in scenario files: functions without a class, and classes with a global name.
    private static func words(_ reference: Reference) -> [String] { reference.globals + ["scenario", "expect"] }

    /// The names that a host's values have, by class.
    private static func realNames() async throws -> [String: Set<String>] {
        let printed = Mutex<[String]>([])
        var configuration = ScriptHost.Configuration(database: .inMemory())
        configuration.libraries = .trusted
        configuration.allowsFiles = true
        configuration.libraryModules = [.scenarios]
        configuration.output = .closure { line in printed.withLock { $0.append(line) } }
        configuration.extending = { loader, state in
            try state.globals.setFunction("library") { arguments in [try loader.require(arguments.get(1))] }
            try state.globals.setFunction("provide") { arguments in
                try loader.provide(arguments.get(1), arguments[2])
                return []
            }
            try Reflection.install(in: state)
        }
        let source = try #require(Reference.text(of: "Tests/PeriluneBindingsTests/Reference/api.lua"))
        let json: String = try await ScriptHost(configuration).run(source: source, named: "api.lua")
        return try JSONDecoder().decode([String: [String: Bool]].self, from: Data(json.utf8)).mapValues { Set($0.keys) }
    }

    // MARK: - Examples

    @Test(.serialized, arguments: functions.filter { !$0.isScenario })
    func `examples in the reference print their documented output`(_ function: Reference.Function) async throws {
        for example in function.examples {
            let printed = Mutex<[String]>([])
            var configuration = ScriptHost.Configuration(database: .inMemory())
            configuration.libraries = .trusted
            configuration.allowsFiles = true
            configuration.signals = ["INT", "TERM", "HUP"]
            configuration.output = .closure { text in
                printed.withLock { $0 += text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) }
            }
            let host = try await ScriptHost(configuration)
            try await host.run(source: testFunctions() + reference.database, named: "database")
            try await host.run(source: example, named: function.place)
            let expected = example.components(separatedBy: "\n").compactMap { line in
                line.firstMatch(of: /-->( (.*))?$/).map { String($0.2 ?? "") }
            }
            #expect(printed.withLock { $0 } == expected, "\(function)")
        }
    }

    @Test(.serialized, arguments: functions.filter(\.isScenario))
    func `scenario examples in the reference pass`(_ function: Reference.Function) async throws {
        for example in function.examples {
            let outcomes = try await ExampleProject(reference.project).outcomes(of: example)
            #expect(!outcomes.isEmpty && outcomes.allSatisfy { [.passed, .skipped].contains($0) }, "\(function): \(outcomes)")
        }
    }

    // MARK: - Generated files

    @Test func `generated files match the output of scripts/reference`() {
        #expect(reference.made.count > 15)
        for (path, text) in reference.made {
            #expect(Reference.text(of: path) == text, "\(path) is out of date; run scripts/reference")
        }
    }

    @Test func `the reference folder contains no other page`() throws {
        let folder = "Sources/Perilune/Perilune.docc/Reference"
        let files = try FileManager.default.contentsOfDirectory(atPath: Reference.root.appending(path: folder).path)
        #expect(Set(files.map { "\(folder)/\($0)" }) == Set(reference.made.keys.filter { $0.hasPrefix(folder) }))
    }

    @Test func `the type of a function with an optional database has an overload without it`() throws {
        let text = try #require(reference.types.first)
        #expect(text.contains("---@overload fun(self: perilune.record_class, db") == false)
        for form in [
            "perilune.request, column: string|perilune.expression): any",
            "perilune.record_methods, options?: perilune.write_options): boolean",
        ] {
            #expect(text.contains("---@overload fun(self: \(form)\n"))
        }
        #expect(text.contains("---@overload fun(key: string, block: fun(db: perilune.database): any): any, boolean\n"))
    }

    @Test func `the types for editors are valid Lua`() throws {
        let state = try LuaState()
        defer { state.close() }
        #expect(reference.types.count == 2)
        for text in reference.types { _ = try state.load(text, named: "types") }
    }
}

/// Access to metatables and upvalues, which Lua provides only through its library `debug`.
private enum Reflection {
    /// Adds `metatable(value)` and `upvalue(function, name)`.
    static func install(in state: LuaState) throws {
        let core = state.core
        try state.globals.set(
            "metatable",
            .function(
                core.makeFunction(
                    "metatable",
                    raw: { core, _ in
                        lua_settop(core.L, 1)
                        return lua_getmetatable(core.L, 1) != 0 ? 1 : 0
                    })))
        try state.globals.set(
            "upvalue",
            .function(
                core.makeFunction(
                    "upvalue",
                    raw: { core, _ in
                        lua_settop(core.L, 2)
                        guard case .string(let wanted) = core.value(at: 2) else { return 0 }
                        var index: CInt = 1
                        while let name = lua_getupvalue(core.L, 1, index) {
                            if String(cString: name) == wanted.description { return 1 }
                            lua_settop(core.L, 2)
                            index += 1
                        }
                        return 0
                    })))
    }
}
