/// A statement with the values that it is to run with, which are SQLite's and valid for the time of a call.
struct RemoteCall {
    let statement: RemoteStatement
    let count: CInt
    let values: UnsafeMutablePointer<OpaquePointer?>?

    /// The same values for another statement.
    func with(_ statement: RemoteStatement) -> RemoteCall { RemoteCall(statement: statement, count: count, values: values) }
}
