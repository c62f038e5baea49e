internal import CPeriluneRows
internal import PeriluneLua

/// A journal of a run, with its SQL, its printed output, and the traceback of the error that ended it. Used only on the state's
/// thread.
final class StatementJournal {
    /// The maximum number of recorded statements; ``count`` includes the omitted ones. The journal is bounded because its memory
    /// does not count toward the script's limits.
    private static let greatestCount = 200
    private static let mostBytes = 1 << 20

    private(set) var statements: [String] = []
    /// The number of executed statements.
    private(set) var count = 0
    private var bytesLeft = mostBytes

    /// The last part of the printed output.
    private(set) var output: [UInt8] = []
    private static let mostOutput = 64 << 10
    var traceback: String?
    /// The number of the source whose run is recorded.
    var source = 0

    /// Creates the journal of a new run. While the run is executing, it is the ``ScriptLoop/journal`` of the loop.
    init(of run: LuaRun, in loop: ScriptLoop) {
        run.didResume = { [unowned self, unowned run, unowned loop] in
            loop.journal = self
            run.withUnsafeState { L in
                pdb_set_note(
                    L, { Unmanaged<StatementJournal>.fromOpaque($0!).takeUnretainedValue().add($1!) },
                    Unmanaged.passUnretained(self).toOpaque())
            }
        }
        run.willSuspend = { [unowned run, unowned loop] in
            loop.journal = nil
            run.withUnsafeState { L in pdb_set_note(L, nil, nil) }
        }
    }

    /// Adds printed text. If the output becomes too long, its beginning is removed, if possible up to the end of a line.
    func addOutput(_ text: some Sequence<UInt8>) {
        output.append(contentsOf: text)
        guard output.count > 2 * Self.mostOutput else { return }
        output.removeFirst(output.count - Self.mostOutput)
        if let lineEnd = output.firstIndex(of: 0x0A) { output.removeFirst(lineEnd + 1) }
    }

    private func add(_ sql: UnsafePointer<CChar>) {
        guard !OwnSQL.contains(sql) else { return }
        count += 1
        guard count <= Self.greatestCount, bytesLeft > 0 else { return }
        let text = String(cString: sql)
        // Once a statement is omitted for its size, all later statements are omitted, too.
        bytesLeft = text.utf8.count <= bytesLeft ? bytesLeft - text.utf8.count : 0
        if bytesLeft > 0 { statements.append(text) }
    }
}
