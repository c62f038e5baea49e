internal import CPeriluneRows
internal import PeriluneLua

/// The SQL that a run executes, what it prints, and the traceback of the error that ended it. Used on the thread of the state.
final class StatementJournal {
    /// The journal of a run that executes more notes that statements were left out. The bytes are not counted by the limits of the script.
    private static let greatestCount = 200
    private static let mostBytes = 1 << 20

    private(set) var statements: [String] = []
    /// How many there were.
    private(set) var count = 0
    private var bytesLeft = mostBytes

    /// The last bytes that the run has printed.
    private(set) var output: [UInt8] = []
    private static let mostOutput = 64 << 10
    var traceback: String?
    /// The number of the source whose run it is.
    var source = 0

    /// Keeps a journal of a run, from its beginning. The loop knows it while the run has the thread.
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

    /// Adds printed text. Of long output the end is kept, from the beginning of a line if there is one.
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
        // What follows one that is left out is left out, too.
        bytesLeft = text.utf8.count <= bytesLeft ? bytesLeft - text.utf8.count : 0
        if bytesLeft > 0 { statements.append(text) }
    }
}
