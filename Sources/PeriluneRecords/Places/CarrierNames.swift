internal import Synchronization

/// The process-wide unique names of carrier tables and the statements that they represent, which traces show instead.
package enum CarrierNames {
    private static let prefix = "perilune_carrier_"
    private static let state = Mutex((last: 0, sources: [Int: String]()))
    private static let hasAny = Atomic<Bool>(false)

    /// Returns a new name.
    ///
    /// - Parameter source: The written statement.
    package static func make(for source: String) -> String {
        hasAny.store(true, ordering: .relaxed)
        return state.withLock { state in
            state.last += 1
            state.sources[state.last] = source
            return prefix + "\(state.last)"
        }
    }

    /// Removes a name after its table is gone.
    package static func remove(_ name: String) {
        guard let number = Int(name.dropFirst(prefix.count)) else { return }
        state.withLock { $0.sources[number] = nil }
    }

    /// Returns the written statement for a carrier, and other SQL unchanged.
    package static func source(of sql: String) -> String {
        guard hasAny.load(ordering: .relaxed), let place = sql.firstRange(of: prefix),
            let number = Int(sql[place.upperBound...].prefix(while: \.isNumber))
        else { return sql }
        return state.withLock { $0.sources[number] } ?? sql
    }
}
