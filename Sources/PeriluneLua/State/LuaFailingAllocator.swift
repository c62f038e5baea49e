internal import CPeriluneShim

/// Simulated allocation failures, for tests.
extension LuaCore {
    /// Makes one future allocation fail. `number` is the number of fallible allocations that succeed first; `nil` cancels the
    /// simulated failure.
    package func failAllocation(at number: Int?) {
        guard isOpen else { return }
        context.pointee.fail_at = number.map { Int64(max($0, 0)) } ?? -1
    }

    /// Whether a simulated failure is pending.
    package var isAllocationToFail: Bool {
        isOpen && context.pointee.fail_at >= 0
    }
}
