internal import Foundation
internal import Perilune
internal import PeriluneBindings
internal import PeriluneRecords
internal import Synchronization

/// The implementation of `perilune migrate --preview`.
extension MigrationCommandRunner {
    /// Runs the pending migrations on a private copy of the database and writes a report of the changes.
    ///
    /// - Throws: ``CommandFailure``, after the report, if a migration failed.
    func preview(_ format: PreviewFormat) async throws -> Int32 {
        let texts = try readFolder()
        let preview = try await openPreview()
        let session = await MigrationSession(request: request, texts: texts, host: preview.host)
        let status = try await session.status()
        try check(status)
        let pending = try await pending(status, session)
        guard !pending.isEmpty else { return noteNothingPending(status) }
        if DatabaseFile.isMissing(request.database) {
            note("the database \(request.database) does not exist yet; previewing with an empty one")
        }
        // With JSON, standard output must contain only the report.
        let output = format == .json ? StandardStreams.redirectOutputToErrors() : nil
        let applied = Mutex<[String]>([])
        let result = await session.migrate { name, _ in applied.withLock { $0.append(name) } }
        if let output { StandardStreams.restoreOutput(output) }
        try await write(preview, format, pending, isIncomplete: result != nil)
        guard let (failure, migration) = result else { return ExitStatus.success }
        note(Self.outcome(applied.withLock { $0 }, failed: migration))
        throw failure
    }

    private func openPreview() async throws -> ScriptPreview {
        let isNew = !FileManager.default.fileExists(atPath: request.database)
        var options = ScriptPreview.Options()
        options.copyProgress = ScriptRunner.showCopying(request.database)
        do {
            return try await ScriptPreview(
                of: .command(isNew ? nil : request.database), configuration: MigrationSession.configuration(request),
                options: options)
        } catch {
            throw CommandFailure(ErrorReport(opening: request.database, error: error))
        }
    }

    private func write(
        _ preview: ScriptPreview, _ format: PreviewFormat, _ pending: [String], isIncomplete: Bool
    ) async throws {
        var report: PreviewReport
        do {
            report = try await preview.finish().report
        } catch {
            throw CommandFailure(ErrorReport("the changes cannot be shown: \(error)", kind: "host"))
        }
        // The report omits the tables that record migrations, because the migrations are listed separately.
        report.tables.removeAll { Self.bookkeeping.contains($0.name) }
        report.schema.removeAll { Self.bookkeeping.contains($0.table) }
        // Migrations are never saved as a plan.
        report.obstacles = []
        if isIncomplete, format == .json { report.warnings.append("a migration failed; these are the changes until then") }
        switch format {
        case .json: try StandardStreams.write(Array(report.json().utf8))
        case .text:
            let formatter = PreviewFormatter(
                database: request.database, incompleteSubject: isIncomplete ? "Before one failed, the migrations" : nil,
                wantsPlan: true, colors: outputColors, width: TerminalSize.outputColumns)
            try StandardStreams.write(Array("Would run \(Self.list(pending))\n".utf8) + formatter.format(report))
        }
        try StandardStreams.flush()
    }

    /// The tables that record applied migrations and their checksums.
    private static let bookkeeping = [OwnTables.migrations, OwnTables.checksums]
}
