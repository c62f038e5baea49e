internal import Synchronization

/// The names of the virtual tables of carriers, which no two in the process share, and what each stands for: traces show that.
package enum CarrierNames {
    private static let prefix = "perilune_carrier_"
    private static let state = Mutex((last: 0, sources: [Int: String]()))
    private static let hasAny = Atomic<Bool>(false)

    /// A new name.
    ///
    /// - Parameter source: The statement as it was written.
    static func make(for source: String) -> String {
        hasAny.store(true, ordering: .relaxed)
        return state.withLock { state in
            state.last += 1
            state.sources[state.last] = source
            return prefix + "\(state.last)"
        }
    }

    /// To be called when the table of a name is gone.
    static func remove(_ name: String) {
        guard let number = Int(name.dropFirst(prefix.count)) else { return }
        state.withLock { $0.sources[number] = nil }
    }

    /// What was written, for the statement that stands for it; other statements as they are.
    package static func source(of sql: String) -> String {
        guard hasAny.load(ordering: .relaxed), let place = sql.firstRange(of: prefix), let number = Int(sql[place.upperBound...].prefix(while: \.isNumber))
        else { return sql }
        return state.withLock { $0.sources[number] } ?? sql
    }
}
