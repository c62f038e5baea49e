internal import CPeriluneShim

/// Simulated allocation failures, for tests.
extension LuaCore {
    /// Makes one future allocation fail as if memory had run out. `number` counts the allocations that may fail, starting at 0.
    /// `nil` cancels the failure.
    package func failAllocation(at number: Int?) {
        guard isOpen else { return }
        context.pointee.fail_at = number.map { Int64(max($0, 0)) } ?? -1
    }

    /// Whether the simulated failure is still to come.
    package var isAllocationToFail: Bool {
        isOpen && context.pointee.fail_at >= 0
    }
}
