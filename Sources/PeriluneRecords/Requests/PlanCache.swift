internal import Synchronization

/// A cache of plans by the shapes of requests. Shapes contain table ids, which are never reused, so plans remain valid when the
/// schema changes.
package final class PlanCache: Sendable {
    private let plans = Mutex(Generations())
    private let capacity: Int

    /// The recently used plans, and older plans, which are dropped when the recent ones reach the capacity.
    private struct Generations {
        var young: [PlanKey: Plan] = [:]
        var old: [PlanKey: Plan] = [:]
    }

    /// - Parameter capacity: Half of the maximum number of plans.
    package init(capacity: Int = 500) { self.capacity = capacity }

    func plan(for key: PlanKey) -> Plan? {
        plans.withLock { plans in
            if let plan = plans.young[key] { return plan }
            guard let plan = plans.old[key] else { return nil }
            keep(plan, key, in: &plans)
            return plan
        }
    }

    func keep(_ plan: Plan, for key: PlanKey) {
        plans.withLock { keep(plan, key, in: &$0) }
    }

    private func keep(_ plan: Plan, _ key: PlanKey, in plans: inout Generations) {
        if plans.young.count >= capacity {
            plans.old = plans.young
            plans.young = [:]
        }
        plans.young[key] = plan
    }

    package var count: Int { plans.withLock { $0.young.count + $0.old.count } }
}

/// The tokens of a request, as a key of the cache.
struct PlanKey: Hashable, Sendable {
    let bytes: [UInt8]

    // Faster than the synthesized implementations, which work byte by byte.
    func hash(into hasher: inout Hasher) {
        bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
    }
}
