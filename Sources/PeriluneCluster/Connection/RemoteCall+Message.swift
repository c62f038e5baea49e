internal import CPeriluneCluster
internal import PeriluneRecords

/// The encoding of calls as dqlite messages.
extension RemoteCall {
    /// Appends the call's values to a message.
    ///
    /// - Throws: ``ClusterFailure`` for a value that a cluster cannot store.
    func put(to buffer: inout pcl_buffer) throws {
        try statement.check(self)
        var position: CInt = 0
        switch pcl_put_parameters(&buffer, count, values, &position) {
        case PCL_TOO_MANY_PARAMETERS:
            throw ClusterFailure(.refused, "a statement may have 255 parameters at most in a cluster, this one has \(count)")
        case PCL_NUL_IN_TEXT:
            throw ClusterFailure(
                .refused,
                "parameter \(position) is a text that contains a NUL byte, which a cluster would cut there; write it as a blob: perilune.blob(s)"
            )
        default: break
        }
    }
}
