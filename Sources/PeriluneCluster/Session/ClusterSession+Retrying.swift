internal import PeriluneRecords
/// Retries of operations until a deadline.
extension ClusterSession {
    /// Runs a closure. Until the deadline, repeats it if the leader changes or another client is writing.
    ///
    /// - Parameter body: The operation. If it fails, it must not have committed anything.
    func retrying<Result>(until deadline: Deadline, _ body: (LeaderConnection) throws -> Result) throws -> Result {
        var moving = BackOff(from: 20, to: 500), locked = BackOff(from: 1, to: 40)
        var failure: ClusterFailure?
        while true {
            do {
                do {
                    return try body(connected(until: deadline))
                } catch let error as RemoteError where error.isBusy && transaction == .none {
                    failure = ClusterFailure(
                        .busy,
                        "another client has been writing for \(timeout.text); try again later, or give the database a longer timeout"
                    )
                    try locked.wait(until: deadline, isCancelled)
                } catch let error as RemoteError where error.endsConnection {
                    disconnect()
                    failure = ClusterFailure(.unreachable, "\(database) has no leader: \(error.message)")
                    try moving.wait(until: deadline, isCancelled)
                } catch ConnectionFailure.lost(let reason) {
                    disconnect()
                    failure = ClusterFailure(.unreachable, "\(database) cannot be reached: \(reason)")
                    try moving.wait(until: deadline, isCancelled)
                }
            } catch ConnectionFailure.deadline {
                let hasWaited = connection != nil && failure?.kind != .busy
                // A connection with an outstanding response cannot be used for other requests.
                disconnect()
                throw hasWaited
                    ? timeoutFailure("the statement") : failure ?? ClusterFailure(.unreachable, "no node of \(database) answers")
            } catch ConnectionFailure.refused(let failure) {
                disconnect()
                throw failure
            } catch ConnectionFailure.cancelled {
                disconnect()
                throw ClusterFailure(.cancelled, "interrupted")
            }
        }
    }

    func timeoutFailure(_ what: String) -> ClusterFailure {
        ClusterFailure(
            .timeout,
            "\(what) had no answer within \(timeout.text): the connection was closed; nothing was committed. "
                + "A node cannot interrupt a statement, and may still be busy with it")
    }
}

extension Duration {
    /// The text of the duration in error messages: "5s", "250ms".
    var text: String {
        let milliseconds = Int64(self / .milliseconds(1))
        return milliseconds % 1000 == 0 ? "\(milliseconds / 1000)s" : "\(milliseconds)ms"
    }
}
