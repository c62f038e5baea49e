import PeriluneTestTools
import Testing

@Suite(.patience, .startsPrograms) struct DoctorCommandTests {
    @Test func `a database without faults passes with what could be better`() throws {
        let folder = try ConsoleProcess.makeFolder()
        let result = try folder.perilune("doctor", "--database", "library.sqlite")
        #expect(result.status == 0, "\(result.output)")
        #expect(result.output.contains("ok       SQLite 3."))
        #expect(result.output.contains("warning  book(author_id) refers to author without an index\n         CREATE INDEX \"book_by_author_id\" ON \"book\" (\"author_id\")\n"), "\(result.output)")
        let cured = try folder.perilune("run", "--database", "library.sqlite", "-e", "db:execute[[CREATE INDEX \"book_by_author_id\" ON \"book\" (\"author_id\")]]")
        #expect(cured.status == 0)
        #expect(try folder.perilune("doctor", "--database", "library.sqlite").output.contains("ok       every foreign key has an index\n"))
    }

    @Test func `a key that points nowhere is a fault`() throws {
        let folder = try ConsoleProcess.makeFolder()
        _ = try folder.perilune(
            "run", "--database", "library.sqlite", "-e",
            "db:write_without_transaction(function(db) db:execute('PRAGMA foreign_keys = OFF') db:execute('DELETE FROM author WHERE id = 1') end)")
        let result = try folder.perilune("doctor", "--database", "library.sqlite", "--format", "json")
        #expect(result.status == 1)
        #expect(result.output.contains("{\"verdict\":\"fault\",\"text\":\"2 rows of book refer to missing rows of author\",\"cure\":"), "\(result.output)")
    }

    @Test func `without a database the libraries are looked at`() throws {
        let result = try TestFolder().perilune("doctor")
        #expect(result.status == 0 && result.output.contains("Lua 5.4"), "\(result.output)")
    }
}
