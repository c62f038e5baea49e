/// A statement and the values of its parameters. SQLite owns the values, which are valid during the call.
struct RemoteCall {
    let statement: RemoteStatement
    let count: CInt
    let values: UnsafeMutablePointer<OpaquePointer?>?

    /// Returns a call that runs another statement with the same values.
    func with(_ statement: RemoteStatement) -> RemoteCall { RemoteCall(statement: statement, count: count, values: values) }
}
