internal import Synchronization

/// The output of a scenario. Only the beginning and the end of long output are kept.
final class ScenarioOutput: Sendable {
    private static let limit = 32 << 10

    private struct State {
        var beginning: [UInt8] = []
        var end: [UInt8] = []
        var count = 0
    }

    private let state = Mutex(State())

    func write(_ text: String) {
        write(Array(text.utf8))
    }

    func write(_ bytes: [UInt8]) {
        state.withLock { state in
            state.count += bytes.count
            let room = Self.limit - state.beginning.count
            state.beginning += bytes.prefix(max(0, room))
            guard bytes.count > room else { return }
            state.end += bytes.dropFirst(max(0, room)).suffix(Self.limit)
            if state.end.count > 2 * Self.limit { state.end.removeFirst(state.end.count - Self.limit) }
        }
    }

    /// The printed text; bytes that are not UTF-8 are replaced.
    var text: String {
        let state = state.withLock { $0 }
        let end = state.end.suffix(Self.limit)
        let missing = state.count - state.beginning.count - end.count
        let gap = missing > 0 ? "\n... \(missing) bytes omitted ...\n" : ""
        return String(decoding: state.beginning, as: UTF8.self) + gap + String(decoding: end, as: UTF8.self)
    }
}
