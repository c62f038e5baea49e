internal import CPeriluneShim

/// Line coverage and line traces of scripts.
extension LuaState {
    /// Starts counting how often each line of chunks from files runs. Call this only on a state with limits, before any script runs
    /// in it.
    package func coverLines() {
        guard core.isOpen, limits.isLimited else { return }
        _ = plua_cover_lines(core.context)
    }

    /// Starts recording the order in which lines of chunks from files run. The conditions of ``coverLines()`` apply.
    package func traceLines(upTo limit: Int) {
        guard core.isOpen, limits.isLimited else { return }
        _ = plua_trace_lines(core.context, limit)
    }

    /// Returns the lines that have run since ``traceLines(upTo:)``, in order.
    package func lineTrace() -> LuaLineTrace {
        var trace = LuaLineTrace()
        guard core.isOpen, let read = plua_read_line_trace(core.context)?.pointee else { return trace }
        trace.entries = Array(UnsafeBufferPointer(start: read.entries, count: read.count))
        (trace.count, trace.hash) = (Int(read.total), read.hash)
        while let name = plua_traced_file(core.context, trace.files.count) { trace.files.append(String(cString: name)) }
        return trace
    }

    /// Passes each executed line and its execution count to a closure.
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

/// A trace of the lines executed in a state, in order.
package struct LuaLineTrace: Codable, Sendable, Equatable {
    /// The file names, to which the entries refer by index.
    package var files: [String] = []
    /// The first executed lines. Each entry holds the file index in the upper 12 bits and the line number in the lower 20 bits.
    package var entries: [UInt32] = []
    /// The number of executed lines, including lines that ``entries`` does not contain.
    package var count = 0
    /// The hash of all executed lines.
    package var hash: UInt64 = 0

    /// Returns a line as `FILE:LINE`.
    package func place(at index: Int) -> String {
        let entry = entries[index]
        let file = Int(entry >> 20)
        return "\(files.indices.contains(file) ? files[file] : "?"):\(entry & 0xFFFFF)"
    }
}

private final class CoverageReceiver {
    let take: (String, Int, Int) -> Void

    init(_ take: @escaping (String, Int, Int) -> Void) {
        self.take = take
    }
}
