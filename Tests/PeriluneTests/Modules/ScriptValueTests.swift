import Foundation
import Perilune
import Testing

/// Script values whose type Swift does not know in advance.
@Suite struct ScriptValueTests {
    @Test(
        arguments: ScriptPlace.allCases,
        [
            ("nil", .nil), ("perilune.null", .null), ("true", true), ("-7", -7), ("2.5", 2.5), ("1 << 62", .integer(1 << 62)),
            ("'é'", "é"),
            ("''", ""), ("'\\xFF\\0'", .bytes(Data([0xFF, 0]))), ("perilune.blob('ab')", .bytes(Data("ab".utf8))),
            ("perilune.date('2026-03-17 12:00:00')", .date(Date(timeIntervalSince1970: 1_773_748_800))),
            ("{}", []), ("{ 1, 'a', { x = perilune.null } }", [1, "a", ["x": .null]]), ("{ a = { b = {} } }", ["a": ["b": []]]),
            ("print", .other("a function")),
        ] as [(String, ScriptValue)])
    func `Swift receives values of all kinds from scripts`(_ place: ScriptPlace, _ values: (String, ScriptValue)) async throws {
        let (source, expected) = values
        let value: ScriptValue = try await place.host().run(source: "return \(source)")
        #expect(value == expected)
    }

    @Test(
        arguments: ScriptPlace.allCases,
        [
            (.nil, "nil", "nil"), (.null, "userdata", "null"), (true, "boolean", "true"), (7, "number", "7"),
            (2.0, "number", "2.0"),
            ("é", "string", "é"), (.bytes(Data([0x61, 0])), "string", "a\0"),
            (.date(Date(timeIntervalSince1970: 0)), "userdata", "1970-01-01 00:00:00.000"),
        ] as [(ScriptValue, String, String)])
    func `scripts receive values of all kinds from Swift`(_ place: ScriptPlace, _ values: (ScriptValue, String, String))
        async throws
    {
        let (value, type, text) = values
        let found: [String] = try await place.host().run(
            source: "local v = ... return { type(v), tostring(v) }", arguments: value)
        #expect(found == [type, text])
    }

    @Test(arguments: ScriptPlace.allCases) func `script values keep integers and floats apart and compare them as in Lua`(
        _ place: ScriptPlace
    ) async throws {
        let host = try await place.host()
        let kinds: [String] = try await host.run(
            source: "local a, b = ... return { math.type(a), math.type(b) }", arguments: ScriptValue.integer(2),
            ScriptValue.number(2))
        #expect(kinds == ["integer", "float"])
        #expect(
            ScriptValue.integer(2) == .number(2) && ScriptValue.integer(2) != .number(2.5)
                && ScriptValue.integer(.max) != .number(1e300))
    }

    /// A tree of shared tables, and a list that repeats one string. Both are small in Lua, but copies of them would not fit into
    /// memory.
    @Test(
        arguments: ScriptPlace.allCases,
        [
            "local t = { 1 } for i = 1, 40 do t = { t, t } end return t",
            "local text, list = ('x'):rep(1 << 20), {} for i = 1, 100000 do list[i] = text end return list",
        ])
    func `copying a value with shared parts ends with an error`(_ place: ScriptPlace, _ source: String) async throws {
        let host = try await place.host()
        let error = await #expect(throws: LuaError.self) { let _: ScriptValue = try await host.run(source: source) }
        #expect(error?.code == .conversion)
        #expect(error?.message.contains("too large to be copied") == true)
        let shared: ScriptValue = try await host.run(source: "local line = { ('-'):rep(100) } return { line, line, line }")
        #expect(shared[2]?[0] == .string(String(repeating: "-", count: 100)))
    }

    @Test(arguments: ScriptPlace.allCases) func `a table with keys that only Swift considers equal is refused`(
        _ place: ScriptPlace
    )
        async throws
    {
        let host = try await place.host(), source = #"return { ["\u{E9}"] = 1, ["e\u{301}"] = 2 }"#
        for code in [
            await #expect(throws: LuaError.self) { let _: ScriptValue = try await host.run(source: source) }?.code,
            await #expect(throws: LuaError.self) { let _: [String: Int] = try await host.run(source: source) }?.code,
        ] { #expect(code == .conversion) }
    }

    @Test(arguments: ScriptPlace.allCases) func `records and rows become tables of their fields`(_ place: ScriptPlace)
        async throws
    {
        let value: ScriptValue = try await place.host().run(
            source: """
                db:execute("CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT, day DATE, cover BLOB, pages INTEGER)")
                perilune.record("book"){ title = "Typee", day = perilune.date("1846-02-26") }:insert()
                return { record = perilune.record("book"):fetch_one(), rows = db:fetch_all("SELECT title, pages FROM book") }
                """)
        #expect(value["record"]?["title"] == "Typee")
        #expect(value["record"]?["day"] == .date(Date(timeIntervalSince1970: -3_908_217_600)))
        #expect(value["record"]?["pages"] == nil)
        #expect(value["rows"]?[0]?["title"] == "Typee")
    }

    @Test(arguments: ScriptPlace.allCases) func `Swift functions accept and return script values`(_ place: ScriptPlace)
        async throws
    {
        let host = try await place.host()
        try await host.register(module: "echo") { echo in
            echo.function("back") { (value: ScriptValue) -> ScriptValue in value }
            echo.function("later") { (value: ScriptValue) async -> [ScriptValue] in [value, .null] }
        }
        let value: ScriptValue = try await host.run(
            source: """
                local echo = require "echo"
                local list = echo.later("x")
                assert(#list == 2 and list[2] == perilune.null)
                return echo.back{ a = { 1, 2, { b = false } } }
                """)
        #expect(value == ["a": [1, 2, ["b": false]]])
        #expect(await host.registeredModules.first?.annotations.contains("---@param argument1 any") == true)
    }

    @Test(
        arguments: ScriptPlace.allCases,
        [
            ("{ 1, 2, x = 3 }", "expected a list, or a table whose keys are text, got one with the key 1"),
            ("{ [2] = 1 }", "expected a list, or a table whose keys are text, got one with the key 2"),
            ("{ [true] = 1 }", "with the key true"), ("{ ['\\xFF'] = 1 }", "with the key that is not UTF-8"),
            ("(function() local t = {} t.t = t return t end)()", "nested too deeply"),
        ])
    func `a value without a Swift equivalent is an error with a reason`(_ place: ScriptPlace, _ values: (String, String))
        async throws
    {
        let (source, message) = values
        let host = try await place.host()
        let error = await #expect(throws: LuaError.self) { let _: ScriptValue = try await host.run(source: "return \(source)") }
        #expect(error?.code == .conversion)
        #expect(error?.message.contains(message) == true, "\(String(describing: error))")
    }

    @Test(arguments: ScriptPlace.allCases) func `opaque Lua values and lists with holes cannot be passed to Lua`(
        _ place: ScriptPlace
    ) async throws {
        let host = try await place.host()
        for value in [ScriptValue.other("a function"), [1, .nil]] {
            let error = await #expect(throws: LuaError.self) { try await host.run(source: "return", arguments: value) }
            #expect(error?.code == .conversion)
        }
        let count: Int = try await host.run(source: "return #(...)", arguments: [1, .null, 3] as ScriptValue)
        #expect(count == 3)
    }

    @Test func `script values are encoded and decoded as JSON`() throws {
        let value: ScriptValue = ["a": [1, 2.5, "x", true, .null], "b": ["c": -1]]
        let data = try JSONEncoder().encode(value)
        #expect(try JSONDecoder().decode(ScriptValue.self, from: data) == ["a": [1, 2.5, "x", true, .null], "b": ["c": -1]])
        #expect(throws: EncodingError.self) { try JSONEncoder().encode([ScriptValue.other("a function")]) }
    }

    @Test func `accessors of a script value return it as each type`() throws {
        let value: ScriptValue = ["n": 12, "x": 12.5, "whole": 3.0, "s": "text", "b": true, "list": [1, "a"], "none": nil]
        #expect(value["n"]?.int == 12 && value["n"]?.double == 12 && value["x"]?.int == nil && value["x"]?.double == 12.5)
        #expect(value["whole"]?.int == 3 && value["s"]?.string == "text" && value["b"]?.bool == true && value["s"]?.int == nil)
        let number: Int? = value["n"]?.int
        #expect(number == 12 && ScriptValue.number(1e300).int == nil)
        #expect(value["list"]?.array == [1, "a"] && value.dictionary?.count == 7 && ScriptValue.list([]).dictionary == [:])
        #expect(ScriptValue.date(Date(timeIntervalSince1970: 1)).date == Date(timeIntervalSince1970: 1))
        #expect(ScriptValue.bytes(Data([255])).data == Data([255]) && value["s"]?.data == Data("text".utf8))
        struct Order: Decodable, Equatable { let n: Int; let list: [ScriptValue] }
        #expect(try value.decode(as: Order.self) == Order(n: 12, list: [1, "a"]))
        #expect(throws: LuaError.self) { try value.decode(as: [Int].self) }
    }

    @Test func `equal script values have equal hashes`() {
        let values: Set<ScriptValue> = [1, 1.0, 2.5, "a", nil, .null, [1, 2], [1.0, 2.0], ["a": 1], ["a": 1.0]]
        #expect(values.count == 7)
        #expect(values.contains(.number(1)) && values.contains(.fields(["a": .number(1)])))
    }
}
