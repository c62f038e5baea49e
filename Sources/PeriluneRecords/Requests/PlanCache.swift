internal import Synchronization

/// The plans of the shapes that were compiled lately. Shapes name tables by ids that are never used again, so the cache may live
/// as long as the database, whatever becomes of its schema.
package final class PlanCache: Sendable {
    private let plans = Mutex(Generations())
    private let capacity: Int

    /// Plans that were used lately, and those used before them, which are forgotten when the former become too many.
    private struct Generations {
        var young: [PlanKey: Plan] = [:]
        var old: [PlanKey: Plan] = [:]
    }

    /// - Parameter capacity: About half of the plans that are kept at most.
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

/// The tokens of a request, to be looked up.
struct PlanKey: Hashable, Sendable {
    let bytes: [UInt8]

    // The synthesised ones go byte by byte.
    func hash(into hasher: inout Hasher) {
        bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
    }
}
