internal import CPeriluneShim

/// Failing allocations, for tests.
extension LuaCore {
    /// Makes one allocation fail as if memory had run out. The number counts the allocations that may fail from now on, starting at 0.
    /// `nil` cancels it.
    package func failAllocation(at number: Int?) {
        guard isOpen else { return }
        context.pointee.fail_at = number.map { Int64(max($0, 0)) } ?? -1
    }

    /// Whether the failure has not happened yet.
    package var isAllocationToFail: Bool {
        isOpen && context.pointee.fail_at >= 0
    }
}
