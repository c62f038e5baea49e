import Foundation
import Perilune
import Testing

/// The fields of errors that leave Lua.
@Suite struct ErrorFieldTests {
    private func fields(of script: String, _ place: ScriptPlace) async throws -> [String: ScriptValue] {
        let host = try await place.host()
        return try #require(await #expect(throws: LuaError.self) { try await host.run(source: script) }).fields
    }

    @Test(arguments: ScriptPlace.allCases) func `error fields keep lists, tables, dates, null and blobs`(_ place: ScriptPlace)
        async throws
    {
        let fields = try await fields(
            of: """
                error{
                  kind = "mine", n = 1, f = 1.5, ok = false, text = "\\xff", list = { 1, "two", { 3 } }, empty = {}, mixed = { 1, a = 2 },
                  details = { a = 1, when_ = perilune.date("2026-03-01") }, when_ = perilune.date("2026-03-01"), none = perilune.null,
                  blob = perilune.blob("\\0x"), f2 = print, nested = { print },
                }
                """, place)
        let day = Date(timeIntervalSince1970: 1_772_323_200)
        #expect(fields["n"] == 1 && fields["f"] == 1.5 && fields["ok"] == false && fields["kind"] == "mine")
        #expect(fields["text"] == .bytes(Data([0xFF])))
        #expect(fields["list"] == [1, "two", [3]])
        #expect(fields["empty"] == [])
        #expect(fields["mixed"] == ["a": 2])
        #expect(fields["details"] == ["a": 1, "when_": .date(day)])
        #expect(fields["when_"] == .date(day))
        #expect(fields["none"] == .null)
        #expect(fields["blob"] == .bytes(Data([0, 0x78])))
        #expect(fields["f2"] == nil)
        #expect(fields["nested"] == [.other("a function")])
    }

    @Test(arguments: ScriptPlace.allCases) func `validation errors name their columns`(_ place: ScriptPlace) async throws {
        let fields = try await fields(
            of: """
                db:execute("CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT, age INTEGER)")
                local Author = perilune.record("author")
                function Author:validate()
                  self:invalid("name", "must not be empty")
                  self:invalid("age", "must be positive")
                end
                Author{ name = "" }:insert()
                """, place)
        #expect(fields["errors"]?.array?.compactMap { $0["column"]?.string } == ["name", "age"])
    }

    @Test func `error fields with tables of any size and depth are limited`() async throws {
        for script in [
            "local t = {} t.self = t t[1] = t error{ t = t }",
            "local t = { 1 } for i = 1, 60 do t = { t, t } end error{ t = t }",
            "local t = {} for i = 1, 100000 do t[i] = i end error{ t = t, kind = 'k' }",
            "local t = {} for i = 1, 100000 do t['k' .. i] = {} end error(t)",
        ] {
            #expect(try await fields(of: script, .here).count > 0, "\(script)")
        }
    }

    @Test func `lists of a Swift error are tables in Lua`() async throws {
        let host = try await ScriptHost(database: .inMemory())
        try await host.register(module: "m") { m in
            m.function("fail") { () throws -> Int in
                throw LuaError(
                    .runtime, "no",
                    fields: ["kind": "mine", "columns": ["a", "b"], "when_": .date(Date(timeIntervalSince1970: 0))])
            }
        }
        let found: String = try await host.run(
            source: """
                local ok, err = pcall(require("m").fail)
                return table.concat(err.columns, ",") .. " " .. err.when_:format("%Y") .. " " .. err.kind
                """)
        #expect(found == "a,b 1970 mine")
    }
}
