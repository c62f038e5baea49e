internal import Foundation
internal import Perilune
internal import PeriluneBindings
internal import PeriluneLua
internal import PeriluneRecords
internal import Synchronization

/// A runner of the migrations in a folder, which can also show their status.
struct MigrationCommandRunner {
    let request: MigrationRequest
    let colors: Colors
    /// The colors for standard output.
    let outputColors: Colors
    /// Creates a formatter for the given column names.
    let makeFormatter: ([String]) -> any ResultFormatter

    // MARK: - Showing

    /// Shows the status of the migrations.
    ///
    /// - Parameters:
    ///   - status: Whether to write a table of the migrations.
    ///   - check: Whether pending and edited migrations change the exit status.
    /// - Throws: ``CommandFailure``.
    func show(status showsStatus: Bool, check: Bool) async throws -> Int32 {
        let texts = try readFolder()
        let isMissing = DatabaseFile.isMissing(request.database)
        if isMissing {
            note("the database \(request.database) does not exist; `perilune migrate` creates it")
        } else {
            try DatabaseFile.requireExisting(request.database)
        }
        let session = try await open(isMissing ? .inMemory() : .command(request.database, readonly: true), texts)
        OpenHosts.addReading(request.database)
        let status = try await session.status()
        if showsStatus { try write(status) }
        guard check else { return ExitStatus.success }
        noteEdited(status)
        noteUnknown(status)
        if !status.pending.isEmpty { note("\(Self.count(status.pending)) pending: \(Self.list(status.pending))") }
        if !status.edited.isEmpty || !status.unknown.isEmpty { return ExitStatus.failure }
        return status.pending.isEmpty ? ExitStatus.success : ExitStatus.pending
    }

    private static func count(_ names: [String]) -> String {
        names.count == 1 ? "1 migration is" : "\(names.count) migrations are"
    }

    /// Reports the migrations whose files were edited after being applied.
    private func noteEdited(_ status: ScriptMigrations.Status) {
        guard !status.edited.isEmpty else { return }
        note(
            "\(Self.count(status.edited)) not as applied, because a file was edited: \(Self.list(status.edited)); "
                + "restore the file, and put the change in a new migration")
    }

    /// Reports applied migrations that are missing from the folder, which may belong to an earlier release.
    private func noteUnknown(_ status: ScriptMigrations.Status) {
        guard !status.unknown.isEmpty else { return }
        note("the database has applied migrations that are not in \(request.folder): \(Self.list(status.unknown))")
    }

    private func write(_ status: ScriptMigrations.Status) throws {
        let (pending, edited) = (Set(status.pending), Set(status.edited))
        var rows = status.names.map { [$0, pending.contains($0) ? "pending" : edited.contains($0) ? "edited" : "applied"] }
        rows += status.unknown.map { [$0, "unknown"] }
        try makeFormatter(["migration", "status"]).writeTable(rows.map { row in row.map { .text(Array($0.utf8)) } })
    }

    // MARK: - Migrating

    /// Runs the pending migrations.
    ///
    /// - Throws: ``CommandFailure``.
    func migrate() async throws -> Int32 {
        let texts = try readFolder()
        let isNew = !DatabaseFile.isCluster(request.database) && !FileManager.default.fileExists(atPath: request.database)
        if isNew {
            // Check first, so that nothing is created or copied if the migrations are missing or unreadable.
            let status = try await open(.inMemory(), texts).status()
            try check(status)
            if status.names.isEmpty { return noteNothingPending(status) }
        }
        let copy = try makeCopy(isNew: isNew)
        defer { if let copy { Self.remove(copy) } }
        let session = try await open(.command(request.isDryRun ? copy : request.database), texts)
        let status = try await session.status()
        try check(status)
        noteEdited(status)
        let pending = try await pending(status, session)
        guard let first = pending.first else { return noteNothingPending(status) }
        noteLate(pending, status)
        if isNew, request.isDryRun { note("the database \(request.database) does not exist yet; migrating an empty one") }
        let backup = try isNew ? nil : makeBackup(before: first)
        try await apply(pending, session, backup, isNew: isNew && !request.isDryRun)
        return ExitStatus.success
    }

    /// Reports pending migrations that come before applied ones, because they run on a schema for which they were not written.
    private func noteLate(_ pending: [String], _ status: ScriptMigrations.Status) {
        let waiting = Set(status.pending)
        guard let last = status.names.last(where: { !waiting.contains($0) }), let end = status.names.firstIndex(of: last) else {
            return
        }
        let late = pending.filter(Set(status.names[..<end]).contains)
        guard !late.isEmpty else { return }
        note("out of order: \(Self.list(late)) \(late.count == 1 ? "comes" : "come") before \(last), which was applied already")
    }

    /// Returns the migrations to run.
    ///
    /// - Throws: ``CommandFailure`` if reaching the target requires undoing migrations.
    func pending(_ status: ScriptMigrations.Status, _ session: MigrationSession) async throws -> [String] {
        noteUnknown(status)
        guard let target = request.target, let end = status.names.firstIndex(of: target) else { return status.pending }
        let pending = status.pending.filter(Set(status.names[...end]).contains)
        if pending.isEmpty, let (failure, _) = await session.migrate(didApply: { _, _ in }) {
            var report = failure.report
            report.help = "--down --to \(target) undoes the migrations after it, if they define `down`"
            throw CommandFailure(report)
        }
        return pending
    }

    func noteNothingPending(_ status: ScriptMigrations.Status) -> Int32 {
        note(status.names.isEmpty ? "no migrations in \(request.folder)" : "nothing is pending")
        return ExitStatus.success
    }

    /// Rejects an unknown target before copying the database.
    func check(_ status: ScriptMigrations.Status) throws {
        guard let target = request.target, !status.names.contains(target) else { return }
        var report = ErrorReport("unknown migration \(target) in \(request.folder)", kind: "usage")
        // The number of a migration is enough to recognize it: 2 for 0002_prices.
        let number = Int(target).flatMap { $0 >= 0 ? $0 : nil }
        let numbered = number == nil ? [] : status.names.filter { Int($0.prefix { $0.isASCII && $0.isNumber }) == number }
        report.suggest(
            target, among: status.names, otherwise: status.names.isEmpty ? nil : "available: " + Self.list(status.names))
        if numbered.count == 1 { report.help = "did you mean `\(numbered[0])`?" }
        throw CommandFailure(report)
    }

    /// Backs up the database if necessary, and returns the path of the copy.
    func makeBackup(before name: String) throws -> String? {
        guard !request.isDryRun, request.makesBackup, try DatabaseBackup.isWorthwhile(for: request.database) else { return nil }
        let copy = try DatabaseBackup.make(of: request.database, before: name)
        note("copied the database to \(copy)")
        return copy
    }

    /// - Parameter isNew: Whether this session created the database file.
    private func apply(_ pending: [String], _ session: MigrationSession, _ backup: String?, isNew: Bool) async throws {
        let applied = Mutex<[(name: String, seconds: Double)]>([])
        let progress = MigrationProgress(pending)
        let result = await session.migrate { name, seconds in
            progress?.didApply(name)
            applied.withLock { $0.append((name, seconds)) }
        }
        progress?.end()
        let done = applied.withLock { $0 }
        // Remove a new file that stayed empty because its path was mistyped or its migrations failed.
        if isNew, done.isEmpty { DatabaseFile.removeIfEmpty(request.database) }
        if isNew, !done.isEmpty { note("created the database \(request.database)") }
        if !done.isEmpty {
            try makeFormatter(["migration", "seconds"]).writeTable(
                done.map { [.text(Array($0.name.utf8)), .real(Self.rounded($0.seconds))] })
        }
        try finish(done.map(\.name), "applied", backup, result)
    }

    /// Reports the result, and throws the failure if there is one.
    ///
    /// - Parameters:
    ///   - verb: The operation on the migrations, such as "applied".
    ///   - result: The failure and the migration in which it occurred, if any.
    func finish(
        _ done: [String], _ verb: String, _ backup: String?, _ result: (failure: CommandFailure, migration: String?)?
    ) throws {
        try StandardStreams.flush()
        if let (_, migration) = result { note(Self.outcome(done, failed: migration, verb)) }
        if result != nil, done.isEmpty, let backup {
            let hasNewTable = DatabaseBackup.hasMigrationTable(request.database) && !DatabaseBackup.hasMigrationTable(backup)
            Self.remove(backup)
            let exception = hasNewTable ? ", except for the empty table \(OwnTables.migrations) of applied migrations," : ","
            note("the database is unchanged\(exception) and the copy was removed")
        }
        if request.isDryRun { note("this was a dry run: \(request.database) is unchanged") }
        if let (failure, _) = result { throw failure }
    }

    /// Describes which migrations are applied after a failure.
    static func outcome(_ done: [String], failed: String?, _ verb: String = "applied") -> String {
        let kept = done.isEmpty ? "nothing was \(verb)" : "\(verb): \(list(done))"
        return failed.map { "\($0) was rolled back; \(kept)" } ?? kept
    }

    /// Rounds seconds to four decimals, or to fewer if the rounded number would be written with 17 digits.
    private static func rounded(_ seconds: Double) -> Double {
        let choices = [10000.0, 1000, 100].map { (seconds * $0).rounded() / $0 }
        return choices.first { CellText.real($0).count < 16 } ?? seconds
    }

    // MARK: - Files

    /// Reads the source texts of the migrations for error reports; fails if the folder is unusable.
    func readFolder() throws -> SourceTexts {
        var texts = SourceTexts(moduleFolder: request.folder)
        do {
            for file in try MigrationFolder(request.folder).files { texts.add(try file.read(), named: file.path) }
        } catch {
            let report = ErrorReport(
                error.message, kind: error.kind == .unreadable ? "io" : "argument",
                help: request.helpOnMissingFolder)
            throw CommandFailure(report)
        }
        return texts
    }

    /// Copies the database for a dry run; returns `nil` without a dry run or if the database is new.
    func makeCopy(isNew: Bool) throws -> String? {
        guard request.isDryRun, !isNew else { return nil }
        let path = try TemporaryFolder.path("dry-run.sqlite")
        try DatabaseBackup.copy(request.database, to: path)
        return path
    }

    static func remove(_ path: String) {
        DatabaseFile.remove(path)
    }

    func open(
        _ database: DatabaseSource, _ texts: SourceTexts
    ) async throws -> MigrationSession {
        try await MigrationSession(request: request, texts: texts, database: database)
    }

    // MARK: - Messages

    func note(_ text: String) {
        CommandOutput.note(text, colors)
    }

    static func list(_ names: [String]) -> String {
        names.prefix(8).joined(separator: ", ") + (names.count > 8 ? ", and \(names.count - 8) more" : "")
    }
}
