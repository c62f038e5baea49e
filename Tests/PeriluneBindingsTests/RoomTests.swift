import Foundation
import Testing
import PeriluneLuaFileTools

/// The C targets and their rooms in layer order. Files outside of the rooms may use all rooms of their target.
private let order = [
    CTarget("CPeriluneCluster", rooms: ["Wire", "Carriers"]),
    CTarget("CPeriluneSQLite", rooms: ["Process", "Clock"]),
    CTarget("CPeriluneShim", rooms: ["Text", "State", "Order", "Calls", "Limited"]),
    CTarget(
        "CPeriluneRows",
        rooms: ["State", "Values", "Errors", "Connections", "Rows", "Accesses", "Functions", "Queries", "Observers"],
        uses: ["CPeriluneSQLite", "CPeriluneShim"]),
    CTarget(
        "CPeriluneRecords", rooms: ["Model", "Snapshots", "Decoding", "Writing", "Lists", "Requests"],
        uses: ["CPeriluneSQLite", "CPeriluneShim", "CPeriluneRows"]),
]

private let largestCircle = 7

/// The direction of dependencies in the C code.
@Suite struct RoomTests {
    private let house: CHouse

    init() throws {
        house = try CHouse(sources: CHouse.read(order.map(\.name)), order: order)
    }

    @Test func `every C file belongs to a room in the layer order`() {
        #expect(house.files.count > 80)
        #expect(house.strangers == [])
    }

    /// Some builds use one list of include folders for all targets, which would confuse headers with the same name.
    @Test func `every public header has a unique name`() {
        let names = house.files.keys.filter { $0.contains("/include/") }.map { $0.split(separator: "/").last! }
        #expect(names.count > 10)
        #expect(Set(names).count == names.count)
    }

    @Test func `no file includes a header of a higher room or target`() {
        #expect(house.includesUpward == [])
    }

    @Test func `no file uses a function or variable of a higher room or target`() {
        #expect(house.uses.count > 900)
        #expect(house.usesUpward == [])
    }

    @Test func `cyclic dependencies are small and stay in one room`() {
        let tooLarge = house.circles.filter { $0.count > largestCircle || Set($0.map(CPlace.init)).count > 1 }
        #expect(tooLarge == [])
    }

    @Test func `an include and a use of a higher room are found and named`() throws {
        let house = CHouse(
            sources: [
                "CPeriluneRows/State/state.c": """
                #include "CPeriluneRows/Rows/rows.h"
                /* pdb_commented() */
                static int helper(void) { return pdb_upper("pdb_quoted()"); }
                void pdb_lower(void) { helper(); }
                """,
                "CPeriluneRows/Rows/rows.h": "int pdb_upper(const char *text);",
                "CPeriluneRows/Rows/rows.c": """
                #include "CPeriluneRows/State/state.h"
                const luaL_Reg pdb_commented[] = {{NULL, NULL}}, pdb_quoted[] = {{NULL, NULL}};
                int pdb_upper(const char *text) { pdb_lower(); return 1; }
                """,
                "CPeriluneRows/open.c": "int pdb_open(void) { return pdb_upper(\"\"); }",
                "CPeriluneSQLite/Clock/clock.c": "int psql_now(void) { return plua_now(); }",
                "CPeriluneShim/State/limits.c": "int plua_now(void) { return 0; }",
                "CPeriluneShim/Attic/junk.c": "",
            ], order: order)
        #expect(house.strangers == ["CPeriluneShim/Attic/junk.c"])
        #expect(house.includesUpward == ["CPeriluneRows/State/state.c includes CPeriluneRows/Rows/rows.h"])
        #expect(
            house.usesUpward == [
                "CPeriluneRows/State/state.c uses pdb_upper of CPeriluneRows/Rows/rows.c",
                "CPeriluneSQLite/Clock/clock.c uses plua_now of CPeriluneShim/State/limits.c",
            ])
        #expect(house.circles == [["CPeriluneRows/Rows/rows.c", "CPeriluneRows/State/state.c"]])
    }
}

/// The targets in Swift above `PeriluneLua`.
private let targetsAboveLua = [
    "PeriluneBindings", "Perilune", "PeriluneScenarios", "PeriluneTestSupport", "PeriluneCLI",
]

/// The files that use the core of a Lua state, with reasons. All other files use the API of `PeriluneLua`.
private let usersOfCore = [
    "PeriluneBindings/Database/DatabaseCallbacks.swift":
        "C calls it with a `lua_State`, perhaps of a coroutine that Swift has not entered",
    "PeriluneBindings/Database/TransactionRelay.swift": "SQLite calls it while Lua runs, with no `LuaState` at hand",
    "PeriluneBindings/Loop/ScriptLoop.swift": "what waits for the core may outlast the `LuaState`",
]

/// The use of Lua's C API and of the state's core by the Swift targets.
@Suite struct LuaUseTests {
    private let sources: [String: String]

    init() throws {
        sources = try SwiftCode.read(targetsAboveLua)
    }

    @Test func `only known files use the core of a Lua state`() {
        #expect(sources.count > 150)
        #expect(sources.filter { SwiftCode.usesCore($0.value) }.keys.sorted() == usersOfCore.keys.sorted())
    }

    @Test func `only the wrapping target calls Lua's C API`() {
        let calls = sources.flatMap { path, text in SwiftCode.callsOfLua(text).map { "\(path) calls \($0)" } }
        #expect(calls.sorted() == [])
    }

    @Test func `uses of the state's core and of the Lua C API are found, except in comments and strings`() {
        #expect(SwiftCode.usesCore("let L = state.core.L"))
        #expect(SwiftCode.usesCore("func f(_ core: LuaCore)"))
        #expect(!SwiftCode.usesCore("/// See ``LuaCore``.\nlet text = \"state.core\" // state.core"))
        #expect(SwiftCode.callsOfLua("lua_settop(L, 0); luaL_checkstack (L)") == ["lua_settop", "luaL_checkstack"])
        #expect(SwiftCode.callsOfLua("// lua_settop(L, 0)\nvar record = lua_Debug(), text = \"lua_error(L)\"") == [])
    }
}

private enum SwiftCode {
    /// The contents of the targets' files.
    static func read(_ targets: [String]) throws -> [String: String] {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let folder = tests.deletingLastPathComponent().appending(path: "Sources")
        var sources: [String: String] = [:]
        for target in targets {
            for path in try FileManager.default.subpathsOfDirectory(atPath: folder.appending(path: target).path)
            where path.hasSuffix(".swift") {
                let file = target + "/" + path
                sources[file] = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
            }
        }
        return sources
    }

    private static func code(of source: String) -> String {
        source.replacing(/"(?:[^"\\\n]|\\.)*"/, with: "0").replacing(/\/\/[^\n]*/, with: "")
    }

    static func usesCore(_ source: String) -> Bool { code(of: source).contains(/LuaCore(?!\w)|\.core(?!\w)/) }

    static func callsOfLua(_ source: String) -> [String] {
        code(of: source).matches(of: /(?:^|\W)(luaL?_[a-z]+)\s*\(/).map { String($0.1) }
    }
}

private struct CTarget {
    let name: String
    let rooms: [String]
    let uses: Set<String>

    init(_ name: String, rooms: [String], uses: Set<String> = []) {
        (self.name, self.rooms, self.uses) = (name, rooms, uses)
    }
}

/// The location of a file: a room of a target, its public headers ("include"), or the target's folder itself ("").
private struct CPlace: Hashable {
    let target: String
    let room: String

    init(_ path: String) {
        let parts = path.split(separator: "/").map(String.init)
        target = parts[0]
        room = parts.count > 2 ? parts[1] : ""
    }
}

/// The C files with their includes, definitions and uses. Only names with the prefix of a target count, which no macro hides.
private struct CHouse {
    struct Use: Hashable {
        let file: String
        let name: String
        let definer: String
    }

    let files: [String: CFile]
    let uses: Set<Use>
    private let order: [CTarget]
    private let publicHeaders: [String: String]

    init(sources: [String: String], order: [CTarget]) {
        self.order = order
        files = sources.mapValues(CFile.init)
        publicHeaders = Dictionary(
            sources.keys.filter { CPlace($0).room == "include" }.map { (String($0.split(separator: "/").last!), $0) },
            uniquingKeysWith: { first, _ in first })
        var definers: [String: String] = [:]
        for (path, file) in files { for name in file.definitions { definers[name] = path } }
        var uses: Set<Use> = []
        for (path, file) in files where CPlace(path).room != "include" {
            for name in file.names {
                guard let definer = definers[name], definer != path, CPlace(definer).room != "include" else { continue }
                uses.insert(Use(file: path, name: name, definer: definer))
            }
        }
        self.uses = uses
    }

    static func read(_ targets: [String]) throws -> [String: String] {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let folder = tests.deletingLastPathComponent().appending(path: "Sources")
        var sources: [String: String] = [:]
        for target in targets {
            for path in try FileManager.default.subpathsOfDirectory(atPath: folder.appending(path: target).path)
            where path.hasSuffix(".c") || path.hasSuffix(".h") {
                let file = target + "/" + path
                sources[file] = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
            }
        }
        return sources
    }

    // MARK: - Direction

    /// Returns the position of a path in the layer order of its target. A public header belongs to the room with its name, or
    /// else to the lowest.
    private func height(_ path: String) -> Int? {
        let place = CPlace(path)
        guard let target = order.first(where: { $0.name == place.target }) else { return nil }
        if place.room == "" { return target.rooms.count }
        guard place.room == "include" else { return target.rooms.firstIndex(of: place.room) }
        let name = path.split(separator: "/").last!.dropFirst("perilune_".count).dropLast(".h".count)
        if name == "opening" { return target.rooms.count }
        return target.rooms.firstIndex { $0.lowercased() == name } ?? 0
    }

    private func isUpward(_ path: String, _ other: String) -> Bool {
        let (place, target) = (CPlace(path), CPlace(other).target)
        guard place.target == target else { return order.first { $0.name == place.target }?.uses.contains(target) != true }
        return (height(other) ?? 0) > (height(path) ?? 0)
    }

    var strangers: [String] { files.keys.filter { height($0) == nil }.sorted() }

    var includesUpward: [String] {
        files.flatMap { path, file in
            file.includes.compactMap { include in
                let other = files[include] == nil ? publicHeaders[include] : include
                guard let other, isUpward(path, other) else { return nil }
                return "\(path) includes \(other)"
            }
        }.sorted()
    }

    var usesUpward: [String] {
        uses.filter { isUpward($0.file, $0.definer) }.map { "\($0.file) uses \($0.name) of \($0.definer)" }.sorted()
    }

    // MARK: - Circles

    /// The cycles of files, found by Tarjan's algorithm. Single files are left out, as are headers, which declare the functions
    /// of their whole room.
    var circles: [[String]] {
        var targets: [String: Set<String>] = [:]
        for use in uses where use.file.hasSuffix(".c") && use.definer.hasSuffix(".c") {
            targets[use.file, default: []].insert(use.definer)
        }
        var (index, low, stack, onStack, circles) = ([String: Int](), [String: Int](), [String](), Set<String>(), [[String]]())
        func visit(_ file: String) {
            index[file] = index.count
            low[file] = index[file]
            stack.append(file)
            onStack.insert(file)
            for other in targets[file, default: []] {
                if index[other] == nil { visit(other) }
                if onStack.contains(other) { low[file] = min(low[file]!, low[other]!) }
            }
            guard low[file] == index[file] else { return }
            let circle = stack[stack.lastIndex(of: file)!...].sorted()
            stack.removeLast(circle.count)
            onStack.subtract(circle)
            if circle.count > 1 { circles.append(circle) }
        }
        for file in files.keys.sorted() where index[file] == nil { visit(file) }
        return circles.sorted { $0[0] < $1[0] }
    }
}

private struct CFile {
    let includes: [String]
    let definitions: Set<String>
    let names: Set<String>

    init(_ source: String) {
        includes = source.matches(of: /(?m)^#include [<"]([^>"]+)[>"]/).map { String($0.1) }
        let code = Self.code(of: source)
        names = Set(code.matches(of: /\b(?:plua|psql|pdb|prec)_\w+/).map { String($0.0) })
        definitions = Self.definitions(in: code)
    }

    /// Returns the source without comments, strings and preprocessor lines.
    private static func code(of source: String) -> String {
        source.replacing(/\/\*(?s:.*?)\*\/|\/\/[^\n]*/, with: " ")
            .replacing(/"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/, with: "0")
            .replacing(/(?m)^#(?:[^\n]*\\\n)*[^\n]*/, with: "")
    }

    /// Returns the functions and variables that are defined outside of braces, not only declared.
    private static func definitions(in code: String) -> Set<String> {
        var (found, depth, text) = (Set<String>(), 0, "")
        for character in code {
            switch character {
            case "{":
                if depth == 0 { text += "{" }
                depth += 1
            case "}":
                depth -= 1
                // The end of a function body. After a struct or a list of values, the declaration continues.
                if depth == 0, text.contains("("), !text.contains("=") {
                    found.formUnion(names(definedBy: text))
                    text = ""
                }
            case ";" where depth == 0:
                found.formUnion(names(definedBy: text + ";"))
                text = ""
            default:
                if depth == 0 { text.append(character) }
            }
        }
        return found
    }

    private static func names(definedBy text: String) -> [String] {
        let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
        let isPrototype = text.hasSuffix(";") && text.contains("(") && !text.contains("=")
        if text.hasPrefix("typedef") || text.hasPrefix("extern") || text.hasPrefix("struct") || text.hasPrefix("enum")
            || isPrototype
        {
            return []
        }
        if text.contains("("), !text.contains("=") {
            return text.firstMatch(of: /\b((?:plua|psql|pdb|prec)_\w+)\s*\(/).map { [String($0.1)] } ?? []
        }
        return text.matches(of: /\b((?:plua|psql|pdb|prec)_\w+)\s*(?=[\[=,;])/).map { String($0.1) }
    }
}
