/// What of statements that were sent before the answers to those before them had come.
struct StatementsAhead: ~Copyable {
    /// What the next statement is to do, if its answer need not be waited for.
    var expectation: RemoteResult?
    /// What those do whose answers are to come.
    var expected: [RemoteResult] = []
    /// Whether the transaction has the mark on which they are conditional, and nothing else was sent since.
    var isMarked = false
    /// How many answers were not what was expected; for the life of this.
    let failures = UnsafeMutablePointer<Int64>.allocate(capacity: 1)

    /// Whether one of them may have rolled back the transaction.
    private var isSuspect = false

    /// How many answers may be to come. They are short: the node can send them all before any is read.
    private static let most = 32

    init() { failures.initialize(to: 0) }

    deinit { failures.deallocate() }

    mutating func takeExpectation() -> RemoteResult? {
        defer { expectation = nil }
        return expectation
    }

    /// Takes out what the answer that comes next is to be; `nil` if none has to be received.
    mutating func nextToReceive(all: Bool) -> RemoteResult? {
        expected.isEmpty || (!all && expected.count < Self.most) ? nil : expected.removeFirst()
    }

    mutating func noteFailure(mayHaveRolledBack: Bool) {
        failures.pointee += 1
        isSuspect = isSuspect || mayHaveRolledBack
    }

    /// Whether it has to be found out if the transaction is still open.
    mutating func takeSuspicion() -> Bool {
        defer { isSuspect = false }
        return isSuspect
    }

    /// To be called when the connection has ended.
    mutating func forget() { (expected, isMarked, isSuspect) = ([], false, false) }
}
