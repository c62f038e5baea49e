import Foundation
import PeriluneTestTools
import Testing

/// `perilune types`.
@Suite(.startsPrograms) struct TypesCommandTests {
    private static let reference = "written: .types/perilune.d.lua\nwritten: .types/scenarios.d.lua\n"

    @Test func `unchanged types for editors are not rewritten`() throws {
        let folder = try TestFolder()
        let result = try folder.perilune("types", ".types")
        #expect((result.status, result.errors) == (0, Self.reference + "written: .luarc.json\n"))
        #expect(try folder.perilune("types", ".types").errors == "")
        let settings = try JSONSerialization.jsonObject(with: Data(folder.read(".luarc.json").utf8)) as? [String: Any]
        #expect(settings?["workspace.library"] as? [String] == [".types"])
    }

    @Test func `existing editor settings are kept`() throws {
        let folder = try TestFolder([".luarc.json": "{}"])
        #expect(try folder.perilune("types", ".types").errors == Self.reference)
        #expect(try folder.read(".luarc.json") == "{}")
    }

    @Test func `types describe the tables of a database without the internal tables of virtual tables`() throws {
        let folder = try TestFolder()
        let schema = """
            db:execute[[CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT NOT NULL, is_sold BOOLEAN);
            CREATE VIRTUAL TABLE page USING fts5(text); CREATE INDEX by_title ON book(title); CREATE VIEW sold AS SELECT * FROM book WHERE is_sold;
            CREATE TABLE "2 words" (x)]]
            """
        #expect(try folder.perilune("run", "--database", "shop.sqlite", "-e", schema).status == 0)
        let result = try folder.perilune("types", ".types", "--database", "shop.sqlite")
        #expect(result.status == 0, "\(result.errors)")
        let types = try folder.read(".types/schema.d.lua")
        #expect(
            types.contains(
                "---@class (exact) perilune.record.book: perilune.record_methods\n---@field id integer\n---@field title string\n---@field is_sold? boolean\n"
            ), "\(types)")
        #expect(types.contains("perilune.record.sold") && types.contains("perilune.record.page"))
        #expect(!types.contains("page_content") && !types.contains("2 words"))
    }

    @Test func `types --check fails if a file is missing or outdated, and writes nothing`() throws {
        let folder = try TestFolder()
        #expect(try folder.perilune("run", "--database", "shop.sqlite", "-e", "db:execute('CREATE TABLE a (x)')").status == 0)
        let missing = try folder.perilune("types", ".types", "--check", "--database", "shop.sqlite")
        #expect(missing.status == 1)
        #expect(
            missing.errors.hasPrefix(
                "error: missing or outdated: .types/perilune.d.lua, .types/scenarios.d.lua, .types/schema.d.lua\n"))
        #expect(!folder.exists(".types") && !folder.exists(".luarc.json"))
        #expect(try folder.perilune("types", ".types", "--database", "shop.sqlite").status == 0)
        #expect(try folder.perilune("types", ".types", "--check", "--database", "shop.sqlite").status == 0)
        #expect(
            try folder.perilune("run", "--database", "shop.sqlite", "-e", "db:execute('ALTER TABLE a ADD COLUMN y TEXT')").status
                == 0)
        let outdated = try folder.perilune("types", ".types", "--check", "--database", "shop.sqlite")
        #expect(
            (outdated.status, outdated.errors.hasPrefix("error: missing or outdated: .types/schema.d.lua\n")) == (1, true),
            "\(outdated.errors)")
    }

    @Test func `a missing database, or a file that is not a database, is an error`() throws {
        let folder = try TestFolder(["shop.sqlite": "no database", "perilune.toml": "database = 'later.sqlite'"])
        #expect(try folder.perilune("types", ".types", "--database", "shp.sqlite").errors.contains("No such file or directory"))
        #expect(try folder.perilune("types", ".types", "--database", "shop.sqlite").errors.contains("shop.sqlite"))
        // The project's own database is created by its migrations.
        #expect(try folder.perilune("types", ".types").errors == Self.reference + "written: .luarc.json\n")
    }
}
