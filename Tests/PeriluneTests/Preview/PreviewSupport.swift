import Foundation
import GRDB
public import Perilune
import PeriluneLua
import Testing

/// A temporary folder with a database. It is removed with the value.
final class PreviewFolder {
    let path: String
    let database: String

    /// - Parameter sql: The SQL that creates the database; `nil` for no database.
    init(_ sql: String?) throws {
        path = NSTemporaryDirectory() + "/perilune-tests-" + UUID().uuidString
        database = path + "/shop.sqlite"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        if let sql {
            let queue = try DatabaseQueue(path: database)
            // Not in the transaction of `write`, because of PRAGMAs.
            try queue.writeWithoutTransaction { db in try db.execute(sql: sql) }
            try queue.close()
        }
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Returns the files in the folder with their bytes. The shared memory of a WAL is listed by name only, since readers write to
    /// it.
    func contents() throws -> [String: Data] {
        var files: [String: Data] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: path) {
            files[name] =
                name.hasSuffix("-shm") ? Data() : try Data(contentsOf: URL(fileURLWithPath: path + "/" + name))
        }
        return files
    }

    /// Previews a script on the database and checks that no file in the folder changes.
    func preview(
        _ script: String, trusted: Bool = false, _ configure: (inout ScriptPreview.Options) -> Void = { _ in }
    ) async throws -> (report: PreviewReport, plan: PreviewPlan?) {
        let before = try contents()
        var options = ScriptPreview.Options()
        configure(&options)
        var configuration = ScriptHost.Configuration()
        if trusted { configuration.libraries = .trusted }
        configuration.allowsFiles = trusted
        let preview = try await ScriptPreview(
            of: .queue(database, inEveryContext: true), configuration: configuration, options: options)
        try await preview.host.run(source: script)
        let result = try await preview.finish()
        #expect(try contents() == before)
        return result
    }

    /// Returns the first column of a query on the original database.
    func values(_ sql: String) throws -> [String] {
        let queue = try DatabaseQueue(path: database)
        return try queue.read { db in
            try Row.fetchAll(db, sql: sql).map { ($0[0] as DatabaseValue).storage.value.map { "\($0)" } ?? "NULL" }
        }
    }

    /// Runs SQL on the original database.
    func execute(_ sql: String) throws {
        let queue = try DatabaseQueue(path: database)
        try queue.writeWithoutTransaction { db in try db.execute(sql: sql) }
    }
}

extension PreviewReport {
    subscript(_ table: String) -> TableChanges? {
        tables.first { $0.name == table }
    }
}

extension TableChanges {
    /// The numbers of inserted, updated and deleted rows.
    var counts: [Int] { [inserted, updated, deleted] }
}

extension StoredValue: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral,
    ExpressibleByNilLiteral
{
    public init(integerLiteral value: Int64) { self = .integer(value) }
    public init(stringLiteral value: String) { self = .text(Array(value.utf8)) }
    public init(nilLiteral: ()) { self = .null }
}
