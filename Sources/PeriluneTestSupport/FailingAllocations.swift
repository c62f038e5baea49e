package import PeriluneLua

/// Simulated allocation failures, for tests of code that runs out of memory.
extension LuaState {
    /// Makes one later allocation fail: the one with the given number, starting at 0 for the next allocation. `nil` cancels the failure.
    package func failAllocation(at number: Int?) {
        core.failAllocation(at: number)
    }

    /// Whether the failure is still pending.
    package var isAllocationToFail: Bool { core.isAllocationToFail }

    /// Runs an operation repeatedly, each time in a new state and with a later allocation failing, until the operation finishes before that
    /// allocation.
    ///
    /// - Parameters:
    ///   - makeState: Creates a state. Its allocations do not fail.
    ///   - operation: The operation, which must either succeed or throw.
    /// - Returns: The number of allocations that failed.
    /// - Throws: Errors of `makeState`, and errors that `operation` throws although no allocation fails.
    @discardableResult
    package static func failingEachAllocation(
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
