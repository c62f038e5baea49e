internal import CPeriluneRows
internal import PeriluneLua

/// The SQL that a run executes. Used on the thread of the state.
final class StatementJournal {
    /// The journal of a run that executes more notes that statements were left out.
    private static let greatestCount = 200

    private(set) var statements: [String] = []
    /// How many there were.
    private(set) var count = 0

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
        if count <= Self.greatestCount { statements.append(String(cString: sql)) }
    }
}
