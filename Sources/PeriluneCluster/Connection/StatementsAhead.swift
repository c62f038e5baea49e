/// Statements that were sent before the answers to those before them had come.
///
/// A node goes on with the next message after a statement that has failed. That statement may have rolled the transaction back, and what comes
/// behind it would be committed at once. So each is conditional on a mark that is part of the transaction.
struct StatementsAhead {
    /// What those do whose answers are to come.
    private var expected: [RemoteResult] = []
    /// Whether the transaction has the mark, and nothing else was sent since.
    var isMarked = false
    private var failures = Failures()

    /// Answers that were not what was expected.
    struct Failures {
        var count: Int64 = 0
        /// Whether one of them may have rolled back the transaction.
        var mayHaveRolledBack = false
    }

    /// How many answers may be to come. They are short: the node can send them all before any is read.
    private static let most = 32

    mutating func append(_ result: RemoteResult) { expected.append(result) }

    /// Takes out what the answer that comes next is to be; `nil` if none has to be received.
    mutating func nextToReceive(all: Bool) -> RemoteResult? {
        expected.isEmpty || (!all && expected.count < Self.most) ? nil : expected.removeFirst()
    }

    /// - Parameter error: `nil` if the statement has done something else than was expected: for one, nothing without the mark.
    mutating func noteFailure(_ error: RemoteError?) {
        failures.count += 1
        failures.mayHaveRolledBack = failures.mayHaveRolledBack || error?.mayHaveRolledBack ?? true
    }

    mutating func takeFailures() -> Failures {
        defer { failures = Failures() }
        return failures
    }
}
