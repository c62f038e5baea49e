internal import Synchronization

/// The plans of the shapes that were compiled lately. Shapes name tables by ids that are never used again, so the cache may live
/// as long as the database, whatever becomes of its schema.
package final class PlanCache: Sendable {
    private let plans = Mutex(Generations())
    private let capacity: Int

    /// Plans that were used lately, and those used before them, which are forgotten when the former become too many.
    private struct Generations {
        var young: [Shape: Plan] = [:]
        var old: [Shape: Plan] = [:]
    }

    /// - Parameter capacity: About half of the plans that are kept at most.
    package init(capacity: Int = 500) { self.capacity = capacity }

    func plan(of shape: Shape) -> Plan? {
        plans.withLock { plans in
            if let plan = plans.young[shape] { return plan }
            guard let plan = plans.old[shape] else { return nil }
            keep(plan, shape, in: &plans)
            return plan
        }
    }

    func keep(_ plan: Plan, of shape: Shape) {
        plans.withLock { keep(plan, shape, in: &$0) }
    }

    private func keep(_ plan: Plan, _ shape: Shape, in plans: inout Generations) {
        if plans.young.count >= capacity {
            plans.old = plans.young
            plans.young = [:]
        }
        plans.young[shape] = plan
    }

    package var count: Int { plans.withLock { $0.young.count + $0.old.count } }
}

/// The tokens of a request, to be looked up.
struct Shape: Hashable, Sendable {
    let bytes: [UInt8]

    // The synthesised ones go byte by byte.
    func hash(into hasher: inout Hasher) {
        bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
    }
}
