internal import CPeriluneRows
internal import PeriluneLua

/// The SQL that a run executes. Used on the thread of the state.
final class StatementJournal {
    /// The journal of a run that executes more notes that statements were left out. The bytes are not counted by the limits of the script.
    private static let greatestCount = 200
    private static let mostBytes = 1 << 20

    private(set) var statements: [String] = []
    /// How many there were.
    private(set) var count = 0
    private var bytesLeft = mostBytes

    /// Keeps a journal of a run, from its beginning.
    init(of run: LuaRun) {
        run.didResume = { [unowned self, unowned run] in
            run.withUnsafeState { L in
                pdb_set_note(
                    L, { Unmanaged<StatementJournal>.fromOpaque($0!).takeUnretainedValue().add($1!) },
                    Unmanaged.passUnretained(self).toOpaque())
            }
        }
        run.willSuspend = { [unowned run] in run.withUnsafeState { L in pdb_set_note(L, nil, nil) } }
    }

    private func add(_ sql: UnsafePointer<CChar>) {
        count += 1
        guard count <= Self.greatestCount, bytesLeft > 0 else { return }
        let text = String(cString: sql)
        // What follows one that is left out is left out, too.
        bytesLeft = text.utf8.count <= bytesLeft ? bytesLeft - text.utf8.count : 0
        if bytesLeft > 0 { statements.append(text) }
    }
}
