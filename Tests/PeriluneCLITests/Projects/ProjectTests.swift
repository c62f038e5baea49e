import Foundation
import PeriluneTestTools
import Testing

@testable import PeriluneCLI

@Suite(.patience, .startsPrograms) struct ProjectTests {
    @Test func `a new project runs and passes its tests`() throws {
        let folder = try TestFolder()
        let made = try folder.perilune("init")
        #expect(made.status == 0 && made.output.contains("migrations/0001_start.lua\n"), "\(made.errors)")
        let test = try folder.perilune("test")
        #expect(test.status == 0 && test.output.contains("1 passed"), "\(test.output)\(test.errors)")
        let migrated = try folder.perilune("migrate", "--database", "project.sqlite")
        #expect(migrated.status == 0, "\(migrated.errors)")
        let run = try folder.perilune("run", "scripts/add_task.lua", "--database", "project.sqlite", "Write the report")
        #expect(run.output == "1\tWrite the report\n" && run.status == 0, "\(run.errors)")
        for name in [".luarc.json", ".vscode/tasks.json"] {
            let data = try Data(contentsOf: URL(fileURLWithPath: folder.path + "/" + name))
            #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: data) }
        }
    }

    @Test func `existing files are unchanged`() throws {
        let folder = try TestFolder(["scripts/add_task.lua": "mine"])
        let made = try folder.perilune("init")
        #expect(made.errors.contains("scripts/add_task.lua already exists"))
        #expect(try String(contentsOfFile: folder.path + "/scripts/add_task.lua", encoding: .utf8) == "mine")
    }

    @Test func `a new migration has the next number and runs unedited`() throws {
        let folder = try TestFolder(["migrations/0009_old.sql": "CREATE TABLE t (a)", "migrations/notes.txt": ""])
        var result = try folder.perilune("migrate", "new", "Add prices!")
        #expect(result.output == "migrations/0010_add_prices.lua\n", "\(result.errors)")
        result = try folder.perilune("migrate", "new", "more", "--sql")
        #expect(result.output == "migrations/0011_more.sql\nmigrations/0011_more.down.sql\n")
        result = try folder.perilune("migrate", "new", "taxes.sql")
        #expect(result.output == "migrations/0012_taxes.sql\nmigrations/0012_taxes.down.sql\n")
        #expect(try folder.perilune("migrate", "new", "fees.lua").output == "migrations/0013_fees.lua\n")
        #expect(try folder.perilune("migrate", "new", ".sql").status == 64)
        try folder.write("CREATE TABLE u (a)", to: "migrations/0011_more.sql")
        let migrated = try folder.perilune("migrate", "--database", "x.sqlite")
        #expect(migrated.status == 0, "\(migrated.errors)")
        #expect(try folder.perilune("migrate", "--database", "x.sqlite", "--status").output.contains("0010_add_prices"))
        #expect(try folder.perilune("migrate", "new", "!").status == 64)
    }

    @Test(arguments: [
        ([], "0001"), (["0001_a.sql"], "0002"), (["7_a.lua", "12_b.sql"], "13"), (["099_a.sql"], "100"),
        ([".0500_a.sql"], "0001"),
    ])
    func `new migrations continue the numbering`(_ files: [String], _ number: String) {
        #expect(NewMigration.number(after: files) == number)
    }
}
