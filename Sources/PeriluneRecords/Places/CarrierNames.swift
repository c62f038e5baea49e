internal import Synchronization

/// The names of carrier tables, unique in the process, and the SQL that each carrier represents. Traces show that SQL instead.
package enum CarrierNames {
    private static let prefix = "perilune_carrier_"
    private static let state = Mutex((last: 0, sources: [Int: String]()))
    private static let hasAny = Atomic<Bool>(false)

    /// Returns a new, unique name.
    ///
    /// - Parameter source: The SQL that the carrier represents.
    package static func make(for source: String) -> String {
        hasAny.store(true, ordering: .relaxed)
        return state.withLock { state in
            state.last += 1
            state.sources[state.last] = source
            return prefix + "\(state.last)"
        }
    }

    /// Removes a name once its table no longer exists.
    package static func remove(_ name: String) {
        guard let number = Int(name.dropFirst(prefix.count)) else { return }
        state.withLock { $0.sources[number] = nil }
    }

    /// Returns the SQL that a carrier represents, and any other SQL unchanged.
    package static func source(of sql: String) -> String {
        guard hasAny.load(ordering: .relaxed), let place = sql.firstRange(of: prefix),
            let number = Int(sql[place.upperBound...].prefix(while: \.isNumber))
        else { return sql }
        return state.withLock { $0.sources[number] } ?? sql
    }
}
