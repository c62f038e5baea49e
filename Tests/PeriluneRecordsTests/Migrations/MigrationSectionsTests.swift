import Testing

@testable import PeriluneRecords

@Suite struct MigrationSectionsTests {
    private func sections(_ text: String) -> (up: String, down: String?)? {
        MigrationSections(Array(text.utf8)).map {
            (String(decoding: $0.up, as: UTF8.self), $0.down.map { String(decoding: $0, as: UTF8.self) })
        }
    }

    @Test(arguments: [
        ("-- migrate:up", "-- migrate:down"), ("-- +goose Up", "-- +goose Down"), ("-- +migrate Up", "-- +migrate Down"),
        ("--migrate:up transaction:false", "  -- MIGRATE:DOWN"),
    ])
    func `migration files of other tools are split into a section to apply and a section to undo`(up: String, down: String) throws
    {
        let found = try #require(sections("\(up)\nCREATE TABLE a (x);\n\(down)\nDROP TABLE a;\n"))
        #expect(found.up == "\(up)\nCREATE TABLE a (x);\n\n\n")
        #expect(found.down == "\n\n\(down)\nDROP TABLE a;\n")
    }

    @Test func `a migration file without markers is one section, and an empty undo section undoes nothing`() throws {
        #expect(sections("CREATE TABLE a (x);\n-- migrate: up and down\n-- about migrate:up\n") == nil)
        #expect(try #require(sections("-- +goose Up\nSELECT 1;\n-- +goose Down\n-- +goose StatementBegin\n\n")).down == nil)
        #expect(try #require(sections("-- +goose Up\r\nSELECT 1;\r\n")).down == nil)
    }
}
