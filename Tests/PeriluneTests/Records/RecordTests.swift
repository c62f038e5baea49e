import Foundation
import Perilune
import PeriluneTestSupport
import Testing

/// Records and requests that scripts define, used from Swift.
@Suite(.defaultDatabase())
struct RecordTests {
    struct Book: Codable, Sendable, Equatable {
        var title: String
    }

    struct Author: Codable, Sendable, Equatable {
        var id: Int
        var name: String
        var country: String?
        var born: Date?
        var isAlive: Bool
        var tags: [String]?
        var books: [Book]?

        enum CodingKeys: String, CodingKey {
            case id, name, country, born, tags, books
            case isAlive = "is_alive"
        }
    }

    private static let models = """
        db:execute[[
          CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT NOT NULL, country TEXT, born DATETIME,
            is_alive BOOLEAN NOT NULL DEFAULT FALSE, tags TEXT);
          CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT, author_id INTEGER REFERENCES author);
          CREATE TABLE stay (author_id INTEGER, year INTEGER, place TEXT, PRIMARY KEY (author_id, year));
          INSERT INTO author (id, name, country, born, tags) VALUES
            (1, 'Verne', 'France', '1828-02-08', '["sea"]'), (2, 'Melville', 'US', NULL, NULL), (3, 'Camus', 'France', NULL, '[]');
          INSERT INTO book (title, author_id) VALUES ('Typee', 2), ('Omoo', 2), ('The Plague', 3);
          INSERT INTO stay VALUES (1, 1870, 'Amiens');
        ]]
        Author = perilune.record("author", { types = { tags = "json" } })
        Book, Stay = perilune.record("book"), perilune.record("stay")
        Author.books = Author:has_many(Book)
        function Author:label(greeting) return greeting .. ", " .. self.name end
        function Author:rename(name) self.name = name self:update() end
        function Author.requests:from(country) return self:filter{ country = country } end
        function Author.requests:by_name() return self:order("name") end
        reports = {}
        function reports.with_books() return Author:including_all(Author.books:order("title")):order("id") end
        function reports.number() return 7 end
        """

    private func makeHost() async throws -> ScriptHost {
        let host = try await ScriptHost()
        try await host.run(source: Self.models)
        return host
    }

    @Test func `uses of a record that does not exist throw, and requests for it are empty`() async throws {
        let host = try await makeHost()
        let nobody = host.record("Author", key: 9)
        let fetched = await #expect(throws: LuaError.self) { try await nobody.fetch(as: Author.self) }
        #expect(fetched?.kind == .recordNotFound)
        let called = await #expect(throws: LuaError.self) { try await nobody.call("exists", as: Bool.self) }
        #expect(called?.kind == .recordNotFound)
        let ignored = await #expect(throws: LuaError.self) { try await nobody.call("delete") }
        #expect(ignored?.kind == .recordNotFound)
        let request = host.records("Author").calling("filter_key", 9)
        #expect(try await request.fetchCount() == 0)
        #expect(try await request.fetchOne(as: Author.self) == nil)
    }

    @Test func `Swift can call a method of a record`() async throws {
        let host = try await makeHost()
        let verne = host.record("Author", key: 1)
        let label: String = try await verne.call("label", "Hello")
        #expect(label == "Hello, Verne")
        try await verne.call("rename", "Jules Verne")
        let renamed: String = try await verne.call("label", "Hello")
        #expect(renamed == "Hello, Jules Verne")
    }

    @Test func `Swift decodes a record with its dates, booleans and JSON`() async throws {
        let host = try await makeHost()
        let verne = try await host.record("Author", key: 1).fetch(as: Author.self)
        let born = Date(timeIntervalSince1970: -4_477_852_800)
        #expect(verne == Author(id: 1, name: "Verne", country: "France", born: born, isAlive: false, tags: ["sea"]))
        struct Stay: Codable, Sendable { var place: String }
        let stay = try await host.record("Stay", key: ["author_id": 1, "year": 1870]).fetch(as: Stay.self)
        #expect(stay.place == "Amiens")
    }

    @Test func `Swift can run, refine and decode a named request`() async throws {
        let host = try await makeHost()
        let french = host.request("Author:from", "France")
        #expect(try await french.fetchCount() == 2)
        let authors: [Author] = try await french.calling("by_name").fetchAll()
        #expect(authors.map(\.name) == ["Camus", "Verne"])
        #expect(authors.map(\.tags) == [[], ["sea"]])
        let first = try await french.calling("by_name").calling("limit", 1).fetchOne(as: Author.self)
        #expect(first?.name == "Camus")
        #expect(try await host.request("Author:from", "Spain").fetchOne(as: Author.self) == nil)
        #expect(try await host.records("Author").fetchCount() == 3)
        #expect(try await host.records("Author").fetchAll(as: Author.self).count == 3)
    }

    @Test func `Swift can use functions that return requests or associations as requests`() async throws {
        let host = try await makeHost()
        let authors = try await host.request("reports.with_books").fetchAll(as: Author.self)
        #expect(authors.map { $0.books?.map(\.title) } == [[], ["Omoo", "Typee"], ["The Plague"]])
        let titles = try await host.record("Author", key: 2).request("books").calling("order", "title").fetchAll(as: Book.self)
        #expect(titles == [Book(title: "Omoo"), Book(title: "Typee")])
    }

    @Test func `Swift finds record classes in a required module`() async throws {
        var configuration = ScriptHost.Configuration()
        configuration.moduleSources = [
            .lookup { name in name == "models" ? Self.models + " local m = { Author = Author } Author = nil return m" : nil }
        ]
        let host = try await ScriptHost(configuration)
        try await host.run(source: "require 'models'")
        let label: String = try await host.record("models.Author", key: 3).call("label", "Hello")
        #expect(label == "Hello, Camus")
    }

    @Test func `mistakes in Swift requests cause the same errors as in scripts`() async throws {
        let host = try await makeHost()
        let missing = await #expect(throws: LuaError.self) {
            try await host.record("Author", key: 99).fetch(as: Author.self)
        }
        #expect(missing?.kind == "record_not_found")
        let method = await #expect(throws: LuaError.self) { try await host.record("Author", key: 1).call("lable", "x") }
        #expect(method?.message.contains("label") == true, "\(method?.message ?? "")")
        let name = await #expect(throws: LuaError.self) { try await host.request("Author:form", "x").fetchCount() }
        #expect(name?.message.hasPrefix("no method `form`") == true)
        let none = await #expect(throws: LuaError.self) { try await host.request("reports.number").fetchCount() }
        #expect(none?.message == "fetch_count: cannot call a method of a number")
        let global = await #expect(throws: LuaError.self) { try await host.records("Autor").fetchCount() }
        #expect(global?.message == "call: no global `Autor`; did you mean `Author`?")
        let table = await #expect(throws: LuaError.self) { try await host.request("reports").fetchCount() }
        #expect(table?.message == "call: `reports` is a table, not a function")
        struct Strict: Codable, Sendable { var country: String }
        let decoding = await #expect(throws: LuaError.self) { try await host.records("Author").fetchAll(as: Book.self) }
        #expect(decoding?.code == .conversion)
        #expect(
            decoding?.message == "the result of Author:fetch_all: [1].title: expected a string, got nil",
            "\(decoding?.message ?? "")")
        let argument = await #expect(throws: LuaError.self) { try await host.request("Author:from", UInt64.max).fetchCount() }
        #expect(argument?.message.hasPrefix("Author:from: argument 1: 18446744073709551615") == true)
    }
}
