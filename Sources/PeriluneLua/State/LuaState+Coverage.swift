internal import CPeriluneShim

/// Counting which lines of scripts run.
extension LuaState {
    /// Notes from now on how often each line of the chunks that come from files runs. Only in a state with limits, before anything
    /// runs in it.
    package func coverLines() {
        guard core.isOpen, limits.isLimited else { return }
        _ = plua_cover_lines(core.context)
    }

    /// Gives each line that has run to a closure, with its count.
    package func readCoverage(_ take: (_ file: String, _ line: Int, _ count: Int) -> Void) {
        guard core.isOpen else { return }
        withoutActuallyEscaping(take) { take in
            let receiver = CoverageReceiver(take)
            plua_read_coverage(
                core.context,
                { receiver, file, line, count in
                    let receiver = Unmanaged<CoverageReceiver>.fromOpaque(receiver!).takeUnretainedValue()
                    receiver.take(String(cString: file!), Int(line), Int(count))
                }, Unmanaged.passUnretained(receiver).toOpaque())
        }
    }
}

private final class CoverageReceiver {
    let take: (String, Int, Int) -> Void

    init(_ take: @escaping (String, Int, Int) -> Void) {
        self.take = take
    }
}
