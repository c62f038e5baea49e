internal import Foundation
internal import GRDB
internal import PeriluneLua

/// The options of `m:migrate` that the Lua library passes.
struct MigrationOptions {
    /// The last migration to run; `nil` runs all.
    let target: String?
    /// Whether to erase the database if its schema differs from the schema that the migrations create.
    let erases: Bool
    /// The name of the database file that may be erased.
    private let erasableFile: String?
    /// Called after each migration, with its name and its duration in seconds.
    let didApply: LuaFunction?

    /// - Throws: `BindingError` if the option `erase` names another file.
    init(_ table: LuaTable, _ writer: any DatabaseWriter) throws {
        target = try table.get("up_to")
        erasableFile = try table.get("erase")
        didApply = try table.get("did_apply")
        erases = try table.get("erases") || erasableFile != nil
        guard let erasableFile, erasableFile != Self.fileName(of: writer) else { return }
        let name = Self.fileName(of: writer).map { "the file `\($0)`" } ?? "in memory"
        throw BindingError("argument", "m:migrate: option erase: the database is \(name), not `\(erasableFile)`")
    }

    /// Checks that the database may be erased. An in-memory database can always be erased; a file only if the option `erase` names
    /// it.
    func requireErasing(_ writer: any DatabaseWriter, _ differences: [String]) throws {
        guard let name = Self.fileName(of: writer), erasableFile == nil else { return }
        throw BindingError(
            "forbidden",
            "the schema of \(name) differs from what the migrations create, and erase_on_schema_change would erase all its data; "
                + "to allow it, use m:migrate(db, { erase = \"\(name)\" })\n" + differences.joined(separator: "\n"))
    }

    private static func fileName(of writer: any DatabaseWriter) -> String? {
        ScriptDatabase.filePath(of: writer).map { URL(filePath: $0).lastPathComponent }
    }
}
