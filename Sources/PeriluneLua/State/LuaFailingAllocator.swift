internal import CPeriluneShim

/// For tests: an allocator that fails.
extension LuaCore {
    /// Has an allocation refused, as if the machine had no memory left: the one with this number, from 0, among those that
    /// may be refused from now on. `nil` takes it back.
    package func failAllocation(at number: Int?) {
        guard isOpen else { return }
        context.pointee.fail_at = number.map { Int64(max($0, 0)) } ?? -1
    }

    /// Whether the refusal is still to come.
    package var isAllocationToFail: Bool {
        isOpen && context.pointee.fail_at >= 0
    }
}
