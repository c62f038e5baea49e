package import PeriluneLua

/// Failing allocations, for tests of running out of memory.
extension LuaState {
    /// Makes one allocation fail. The number counts the allocations that may fail from now on, starting at 0. `nil` cancels it.
    package func failAllocation(at number: Int?) {
        core.failAllocation(at: number)
    }

    /// Whether the failure has not happened yet.
    package var isAllocationToFail: Bool { core.isAllocationToFail }

    /// Runs an operation with the first allocation failing, then the second, and so on, each time in a new state, until the operation needs
    /// fewer allocations than that.
    ///
    /// - Parameters:
    ///   - makeState: Makes a state. Allocations in it do not fail.
    ///   - operation: Must either succeed or throw.
    /// - Returns: The number of failed allocations.
    /// - Throws: Errors of `makeState`, and errors of `operation` when no allocation fails.
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
