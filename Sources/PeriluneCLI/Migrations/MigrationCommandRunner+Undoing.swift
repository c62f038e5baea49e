internal import Perilune
internal import PeriluneBindings
internal import Synchronization

/// The implementation of `perilune migrate --down`.
extension MigrationCommandRunner {
    /// Undoes the last applied migration, or all migrations after the target, with the `down` functions that they define.
    ///
    /// - Throws: ``CommandFailure``.
    func migrateDown() async throws -> Int32 {
        let texts = try readFolder()
        try DatabaseFile.requireExisting(request.database)
        let copy = try makeCopy(isNew: false)
        defer { if let copy { Self.remove(copy) } }
        let session = try await open(.command(copy ?? request.database), texts)
        let status = try await session.status()
        try check(status)
        guard let last = lastToUndo(status) else {
            note("nothing to undo")
            return ExitStatus.success
        }
        let backup = try makeBackup(before: "undoing-\(last)")
        let undone = Mutex<[String]>([])
        let result = await session.migrateDown { name in undone.withLock { $0.append(name) } }
        let names = undone.withLock { $0 }
        if !names.isEmpty {
            try makeFormatter(["migration", "status"]).writeTable(
                names.map { [.text(Array($0.utf8)), .text(Array("undone".utf8))] })
        }
        try finish(names, "undone", backup, result.map { ($0.failure, nil) })
        return ExitStatus.success
    }

    /// Returns the migration to undo first; `nil` if nothing is to be undone.
    private func lastToUndo(_ status: ScriptMigrations.Status) -> String? {
        let pending = Set(status.pending)
        let seen = status.names.filter { !pending.contains($0) } + status.unknown
        return seen.last == request.target ? nil : seen.last
    }
}
