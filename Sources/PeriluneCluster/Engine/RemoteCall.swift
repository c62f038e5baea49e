/// A statement and the values to run it with. The values belong to SQLite and are valid during the call.
struct RemoteCall {
    let statement: RemoteStatement
    let count: CInt
    let values: UnsafeMutablePointer<OpaquePointer?>?

    /// Returns a call of another statement with the same values.
    func with(_ statement: RemoteStatement) -> RemoteCall { RemoteCall(statement: statement, count: count, values: values) }
}
