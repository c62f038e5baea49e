/// The statements that were sent ahead, without waiting for the responses to earlier statements.
///
/// A node continues with the next message even after a failed statement. If the failure rolled back the transaction, the node would
/// run and commit the following statements in autocommit mode. To prevent this, each statement that is sent ahead depends on a mark
/// that is part of the transaction.
struct StatementsAhead {
    /// The expected results of the outstanding responses.
    private var expected: [RemoteResult] = []
    /// Whether the transaction contains the mark, and only statements sent ahead have followed it.
    var isMarked = false
    private var failures = Failures()

    /// The number and effect of responses that differ from the expected result.
    struct Failures {
        var count: Int64 = 0
        /// Whether a failure may have rolled back the transaction.
        var mayHaveRolledBack = false
    }

    /// The maximum number of outstanding responses. Because they are short, the node can send this many without blocking before the
    /// client reads any.
    private static let most = 32

    mutating func append(_ result: RemoteResult) { expected.append(result) }

    /// Removes and returns the expected result of the next response, or returns `nil` if no response has to be received yet.
    mutating func nextToReceive(all: Bool) -> RemoteResult? {
        expected.isEmpty || (!all && expected.count < Self.most) ? nil : expected.removeFirst()
    }

    /// - Parameter error: The error, or `nil` if the statement succeeded with an unexpected result. For example, it changes nothing
    ///   if the mark is missing.
    mutating func noteFailure(_ error: RemoteError?) {
        failures.count += 1
        failures.mayHaveRolledBack = failures.mayHaveRolledBack || error?.mayHaveRolledBack ?? true
    }

    mutating func takeFailures() -> Failures {
        defer { failures = Failures() }
        return failures
    }
}
