internal import Foundation
internal import GRDB
internal import Perilune
internal import PeriluneRecords

/// Backup copies of a database, made before migrations change it.
enum DatabaseBackup {
    /// Returns whether the database contains anything that could be lost.
    static func isWorthwhile(for path: String) throws -> Bool {
        try reading(path) { db in
            try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM sqlite_schema)") ?? false
        }
    }

    /// Copies the database to an unused name in the same folder; a cluster database is copied to the current folder.
    ///
    /// - Parameter migration: The name of the next migration, which is part of the name of the copy.
    /// - Returns: The path of the copy.
    static func make(of path: String, before migration: String) throws -> String {
        let copy = try reserve(DatabaseFile.isCluster(path) ? ClusterAddress(url: path).name : path, migration)
        do {
            try self.copy(path, to: copy)
        } catch {
            try? FileManager.default.removeItem(atPath: copy)
            throw error
        }
        return copy
    }

    /// Copies a database with SQLite's backup functions, which include all committed changes and no partial ones.
    static func copy(_ path: String, to copy: String) throws {
        if DatabaseFile.isCluster(path) {
            return try DatabaseFile.inCluster(path) { queue, place in
                try place.withContents(of: queue) { try $0.backup(to: DatabaseQueue(path: copy)) }
            }
        }
        var configuration = Configuration()
        configuration.readonly = true
        do {
            let source = try DatabaseQueue(path: path, configuration: configuration)
            let target = try DatabaseQueue(path: copy)
            let line = ProgressLine(delay: .seconds(1))
            defer { line?.erase() }
            try source.backup(to: target, pagesPerStep: 4096) { progress in
                line?.show("copying \(path)", part: Double(progress.completedPageCount) / Double(max(progress.totalPageCount, 1)))
            }
            try target.close()
            try source.close()
        } catch let error as DatabaseError {
            throw CommandFailure(failure("cannot copy the database \(path) to \(copy)", error))
        }
    }

    /// Returns whether a database has the table of applied migrations, which is created before the first migration begins, and stays if that
    /// migration fails.
    static func hasMigrationTable(_ path: String) -> Bool {
        (try? reading(path) { try $0.tableExists(OwnTables.migrations) }) ?? false
    }

    private static func reading<Result>(_ path: String, _ body: (Database) throws -> Result) throws -> Result {
        // For a cluster, a copy of the schema is sufficient.
        if DatabaseFile.isCluster(path) { return try DatabaseFile.openForSchema(path).read(body) }
        var configuration = Configuration()
        configuration.readonly = true
        do {
            return try DatabaseQueue(path: path, configuration: configuration).read(body)
        } catch let error as DatabaseError {
            throw CommandFailure(ErrorReport(opening: path, error: error))
        }
    }

    private static func failure(_ text: String, _ error: DatabaseError) -> ErrorReport {
        var report = ErrorReport(error)
        report.message = "\(text): \(report.message)"
        report.sql = nil
        report.help = "use --no-backup to migrate without a copy"
        return report
    }

    /// Reserves a file name by creating an empty file: `shop.sqlite.before-0002_prices.sqlite`, with a number if necessary.
    private static func reserve(_ path: String, _ migration: String) throws -> String {
        for number in 1...9999 {
            let copy = "\(path).before-\(migration)\(number == 1 ? "" : "-\(number)").sqlite"
            let file = open(copy, O_CREAT | O_EXCL | O_WRONLY, 0o600)
            if file >= 0 {
                close(file)
                return copy
            }
            guard errno == EEXIST else {
                let reason = String(cString: strerror(errno))
                throw CommandFailure(
                    ErrorReport(
                        "cannot create the copy \(copy): \(reason)", kind: "io",
                        help: "use --no-backup to migrate without a copy"))
            }
        }
        throw CommandFailure(ErrorReport("too many copies of \(path)", kind: "io"))
    }
}
