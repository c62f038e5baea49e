internal import Foundation
internal import GRDB
internal import GRDBSQLite
internal import Perilune
internal import PeriluneBindings
internal import PeriluneLua
internal import PeriluneRecords

/// The result of a check.
struct Finding: Equatable {
    enum Verdict: String {
        case ok, warning, fault
    }

    let verdict: Verdict
    let text: String
    /// The suggested fix.
    var cure: String?
}

/// An examination of the linked libraries.
enum LibraryExamination {
    /// - Parameter groupsBugs: Whether to count the bugs of the Lua release in one finding instead of listing them.
    static func findings(groupsBugs: Bool) -> [Finding] {
        var findings = [Finding(verdict: .ok, text: "SQLite \(String(cString: sqlite3_libversion()))")]
        let wanted: [String] = ["ENABLE_SESSION", "ENABLE_PREUPDATE_HOOK", "ENABLE_FTS5", "ENABLE_COLUMN_METADATA"]
        let missing = wanted.filter { name in sqlite3_compileoption_used(name) == 0 }
        if !missing.isEmpty {
            findings.append(
                Finding(
                    verdict: .warning, text: "SQLite was built without \(missing.joined(separator: ", "))",
                    cure: "previews, observation or full-text search do not work; use the SQLite library of your distribution"))
        }
        findings.append(Finding(verdict: .ok, text: "Lua \(LuaRelease.current)"))
        return findings + bugs(of: .current, isGrouped: groupsBugs)
    }

    /// Returns the bugs of a Lua release that scripts can trigger.
    static func bugs(of release: LuaRelease, isGrouped: Bool) -> [Finding] {
        let bugs = release.knownBugs.filter { !$0.isClosed }
        guard isGrouped, bugs.count > 1, let last = bugs.map(\.fixedIn).max() else {
            return bugs.map { bug in
                Finding(
                    verdict: .warning, text: "Lua: \(bug.description)", cure: "fixed in Lua \(LuaRelease(bug.fixedIn))")
            }
        }
        return [
            Finding(
                verdict: .warning, text: "Lua \(release) has \(bugs.count) known bugs that scripts can trigger",
                cure: "fixed in Lua \(LuaRelease(last)); --verbose lists them")
        ]
    }
}

/// An examination of a database file.
struct DatabaseExamination {
    let path: String
    let db: Database
    /// Whether the database is a copy of a cluster database, whose file properties are meaningless.
    var isCopy = false

    func findings() throws -> [Finding] {
        let tables = try TableDescription.readAll(in: db)
        var findings = try integrity()
        findings += try despiteDamage("the schema") { try schema(tables) }
        findings += try despiteDamage("foreign keys") { try foreignKeys(tables) }
        findings += keysWithoutIndex(tables)
        findings += try despiteDamage("columns of dates") { try dates(tables) }
        findings += try despiteDamage("jobs and runs of automations") { try DurableExamination(path: path, db: db).findings() }
        return isCopy ? findings : try findings + journal() + pages() + processes()
    }

    /// Returns the findings of a check, or a single finding if damage to the file prevents the check.
    private func despiteDamage(_ subject: String, _ findings: () throws -> [Finding]) throws -> [Finding] {
        do {
            return try findings()
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CORRUPT {
            return [
                Finding(
                    verdict: .fault, text: "\(subject) cannot be checked: \(error.message ?? "the file is damaged")",
                    cure: damageAdvice)
            ]
        }
    }

    private var damageAdvice: String {
        "restore a backup, or save the readable rows: perilune dump --database \(path) --output saved.sql"
    }

    private func integrity() throws -> [Finding] {
        var reports: [String] = []
        do {
            let rows = try String.fetchCursor(db, sql: "PRAGMA integrity_check(20)")
            while let report = try rows.next() { reports.append(report) }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CORRUPT {
            // Some kinds of damage end the check with an error, but are reported before it.
            if reports.isEmpty { reports = [error.message ?? "the file is damaged"] }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
            return [
                Finding(verdict: .warning, text: "integrity_check cannot run: \(error.message ?? "")", cure: Self.extensionAdvice)
            ]
        }
        if reports == ["ok"] { return [Finding(verdict: .ok, text: "the file passes integrity_check")] }
        let flaws = reports.flatMap { $0.split(separator: "\n") }.filter { !$0.hasPrefix("*** in database") }
        return flaws.prefix(5).map { flaw in
            let isIndex = flaw.contains(" missing from index ") || flaw.hasPrefix("wrong # of entries in index")
            return Finding(verdict: .fault, text: String(flaw), cure: isIndex ? "rebuild the indexes: REINDEX" : damageAdvice)
        }
    }

    private static let extensionAdvice =
        "if an extension or a program defines it, load it: --extension FILE, or `extensions` in \(Settings.fileName)"

    /// Returns findings on unusable views and virtual tables and on undefined collations.
    private func schema(_ tables: [TableDescription]) throws -> [Finding] {
        let flaws = zip(tables.filter { $0.flaw != nil }, TableDescription.flaws(of: tables)).map { table, text in
            let advice =
                table.kind == "view"
                ? "create the missing table or column, or drop the view: DROP VIEW \(table.name.quotedName)"
                : Self.extensionAdvice
            return Finding(verdict: .fault, text: text, cure: advice)
        }
        return try flaws
            + MissingCollations.names(in: db).map {
                Finding(
                    verdict: .warning, text: "an index uses the collation \($0), which is not defined", cure: Self.extensionAdvice
                )
            }
    }

    /// Returns a warning for each column with times that do not sort with the times that records write.
    private func dates(_ tables: [TableDescription]) throws -> [Finding] {
        try tables.filter { $0.kind == "table" && $0.flaw == nil }.flatMap { table in
            try table.columns.compactMap { column in
                let content = DeclaredType(column.type).content
                guard column.hidden == 0, content == .day || content == .date else { return nil }
                let name = column.name.quotedName, owner = table.name.quotedName
                let condition = "\(name) LIKE '____-__-__T%' AND julianday(\(name)) IS NOT NULL"
                let isThere = try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM \(owner) WHERE \(condition))") == true
                guard isThere else { return nil }
                return Finding(
                    verdict: .warning, text: "\(table.name)(\(column.name)) has times with a T, which conditions of records miss",
                    cure: "UPDATE \(owner) SET \(name) = strftime('%Y-%m-%d %H:%M:%f', \(name)) WHERE \(condition)")
            }
        }
    }

    private func foreignKeys(_ tables: [TableDescription]) throws -> [Finding] {
        let findings = try tables.filter { !$0.foreignKeys.isEmpty }.flatMap { table in
            try missingTables(table, among: tables) + missingRows(table.name)
        }
        return findings.isEmpty ? [Finding(verdict: .ok, text: "all foreign keys refer to existing rows")] : findings
    }

    private func missingTables(_ table: TableDescription, among tables: [TableDescription]) -> [Finding] {
        table.foreignKeys.filter { key in !tables.contains { $0.name.foldedName == key.table.foldedName } }.map { key in
            Finding(
                verdict: .fault,
                text: "\(table.name)(\(key.columns.joined(separator: ", "))) refers to \(key.table), a table that does not exist",
                cure:
                    "while foreign keys are checked no row can be written to \(table.name): create the table, or drop the foreign key"
            )
        }
    }

    /// Returns findings on rows that reference missing rows, or the reason why SQLite cannot search for them.
    private func missingRows(_ table: String) throws -> [Finding] {
        do {
            let broken = try Row.fetchAll(
                db, sql: "SELECT parent, count(*) AS count FROM pragma_foreign_key_check(?) GROUP BY 1", arguments: [table])
            return broken.map { row in
                let parent: String = row["parent"], count: Int = row["count"]
                return Finding(
                    verdict: .fault,
                    text:
                        "\(count) \(count == 1 ? "row" : "rows") of \(table) \(count == 1 ? "refers" : "refer") to missing rows of \(parent)",
                    cure:
                        "to find them: SELECT * FROM \(table.quotedName) WHERE rowid IN (SELECT rowid FROM pragma_foreign_key_check('\(table.replacing("'", with: "''"))'))"
                )
            }
        } catch let error as DatabaseError where error.message?.hasPrefix("foreign key mismatch") == true {
            return [
                Finding(
                    verdict: .fault, text: error.message!,
                    cure:
                        "while foreign keys are checked writing to these tables fails: what is referred to needs a UNIQUE index of just these columns"
                )
            ]
        } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
            return [
                Finding(
                    verdict: .warning, text: "the foreign keys of \(table) cannot be checked: \(error.message ?? "")",
                    cure: Self.extensionAdvice)
            ]
        }
    }

    /// Returns findings on foreign keys without an index: deleting a referenced row scans the whole table.
    private func keysWithoutIndex(_ tables: [TableDescription]) -> [Finding] {
        var findings: [Finding] = []
        for table in tables {
            for key in table.foreignKeys where key.table.foldedName != OwnTables.transactions && !hasIndex(table, key.columns) {
                let name = "\(table.name)_by_" + key.columns.joined(separator: "_")
                let columns = key.columns.map(\.quotedName).joined(separator: ", ")
                findings.append(
                    Finding(
                        verdict: .warning,
                        text: "\(table.name)(\(key.columns.joined(separator: ", "))) refers to \(key.table) without an index",
                        cure: "CREATE INDEX \(name.quotedName) ON \(table.name.quotedName) (\(columns))"))
            }
        }
        return findings.isEmpty ? [Finding(verdict: .ok, text: "every foreign key has an index")] : findings
    }

    private func hasIndex(_ table: TableDescription, _ columns: [String]) -> Bool {
        let wanted = Set(columns.map(\.foldedName))
        let lists = [table.key] + table.indexes.filter { !$0.isPartial }.map { $0.columns.prefix { $0 != nil }.compactMap { $0 } }
        return lists.contains { Set($0.prefix(wanted.count).map(\.foldedName)) == wanted }
    }

    private func journal() throws -> [Finding] {
        let mode = try String.fetchOne(db, sql: "PRAGMA journal_mode") ?? "", isOnNetwork = FileJournal.isOnNetwork(path)
        switch (mode == "wal", isOnNetwork) {
        case (true, false):
            return [Finding(verdict: .ok, text: "readers and a writer do not block each other (journal_mode wal)"), synchronous]
        case (true, true):
            return [
                Finding(
                    verdict: .warning,
                    text: "the file has a write-ahead log on a network file system, where other machines can destroy it",
                    cure: "PRAGMA journal_mode = delete, or move the file to a local disk")
            ]
        case (false, true):
            return [
                Finding(
                    verdict: .ok,
                    text: "journal_mode \(mode), because a network file system has no shared memory for a write-ahead log")
            ]
        case (false, false):
            return [
                Finding(
                    verdict: .warning,
                    text:
                        "readers block while another connection writes (journal_mode \(mode)), and each commit waits for the disk several times",
                    cure:
                        "PRAGMA journal_mode = wal: small transactions are about 6 times as fast; the setting is stored in the file"
                )
            ]
        }
    }

    /// A finding on whether commits to a write-ahead log wait for the disk.
    private var synchronous: Finding {
        switch FileJournal.standard.synchronous ?? .full {
        case .full, .extra:
            Finding(
                verdict: .ok,
                text:
                    "each commit waits for the disk (synchronous full); with `database.synchronous = \"normal\"` in \(Settings.fileName), small transactions are about "
                    + "40 times as fast, but a power cut can undo the last ones; a killed process never does")
        case .normal:
            Finding(
                verdict: .ok,
                text:
                    "commits do not wait for the disk (synchronous normal): a power cut can undo the last ones; a killed process never does"
            )
        case .off:
            Finding(
                verdict: .warning, text: "nothing waits for the disk (synchronous off): a power cut can destroy the file",
                cure: "set `database.synchronous = \"normal\"` in \(Settings.fileName)")
        }
    }

    private func pages() throws -> [Finding] {
        let free = try Int.fetchOne(db, sql: "PRAGMA freelist_count") ?? 0,
            count = try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0
        let size = try Int.fetchOne(db, sql: "PRAGMA page_size") ?? 0
        // The formatter would write "Zero KB".
        let bytes = count == 0 ? "empty" : ByteCountFormatter.string(fromByteCount: Int64(count * size), countStyle: .file)
        guard count > 100, free * 4 > count else {
            return [Finding(verdict: .ok, text: "\(bytes), \(free * 100 / max(count, 1)) % free")]
        }
        return [
            Finding(
                verdict: .warning, text: "\(free * 100 / count) % of \(bytes) are free pages",
                cure: "run VACUUM to shrink the file")
        ]
    }

    /// Returns a finding that lists the other processes with the file open, as far as this user can see them.
    private func processes() throws -> [Finding] {
        let found = DatabaseUsers(path: path).all
        return found.isEmpty ? [] : [Finding(verdict: .ok, text: "also open in \(found.joined(separator: ", "))")]
    }
}
