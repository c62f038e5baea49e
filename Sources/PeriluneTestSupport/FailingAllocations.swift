public import PeriluneLua

/// For tests of what a program makes of a machine without memory.
extension LuaState {
    /// Has an allocation refused: the one with this number, from 0, among those that may be refused from now on. `nil` takes it
    /// back.
    public func failAllocation(at number: Int?) {
        core.failAllocation(at: number)
    }

    /// Whether the refusal is still to come.
    public var isAllocationToFail: Bool { core.isAllocationToFail }

    /// Runs an operation with the first allocation failing, then with the second, and so on, each time in a new state, until it
    /// makes do with fewer.
    ///
    /// - Parameters:
    ///   - makeState: Makes a state; in it nothing fails.
    ///   - operation: Must throw what it cannot do, or do it.
    /// - Returns: How many allocations have failed.
    /// - Throws: What `makeState` throws, and what `operation` throws when no allocation fails.
    @discardableResult
    public static func failingEachAllocation(
        of makeState: () throws -> LuaState, _ operation: (LuaState) throws -> Void
    ) throws -> Int {
        var number = 0
        while true {
            let state = try makeState()
            state.failAllocation(at: number)
            var failure: (any Error)?
            do { try operation(state) } catch { failure = error }
            let wasRefused = !state.isAllocationToFail
            state.failAllocation(at: nil)
            if !wasRefused {
                if let failure { throw failure }
                return number
            }
            number += 1
        }
    }
}
