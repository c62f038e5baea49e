/// Statements that are sent before the responses to earlier ones have arrived.
///
/// After a failed statement a node continues with the next message. The failure may have rolled back the transaction, and the
/// following statements would then be committed at once. So each of them depends on a mark that is part of the transaction.
struct StatementsAhead {
    /// The expected results of the outstanding responses.
    private var expected: [RemoteResult] = []
    /// Whether the transaction contains the mark and no other statement has been sent since.
    var isMarked = false
    private var failures = Failures()

    /// The responses that differ from the expected result.
    struct Failures {
        var count: Int64 = 0
        /// Whether one of them may have rolled back the transaction.
        var mayHaveRolledBack = false
    }

    /// The largest number of outstanding responses. They are short, so the node can send them all before any is read.
    private static let most = 32

    mutating func append(_ result: RemoteResult) { expected.append(result) }

    /// Removes and returns the expected result of the next response, or `nil` if none has to be received now.
    mutating func nextToReceive(all: Bool) -> RemoteResult? {
        expected.isEmpty || (!all && expected.count < Self.most) ? nil : expected.removeFirst()
    }

    /// - Parameter error: `nil` if the result differs from the expected one, for example nothing was changed because the mark is
    /// missing.
    mutating func noteFailure(_ error: RemoteError?) {
        failures.count += 1
        failures.mayHaveRolledBack = failures.mayHaveRolledBack || error?.mayHaveRolledBack ?? true
    }

    mutating func takeFailures() -> Failures {
        defer { failures = Failures() }
        return failures
    }
}
