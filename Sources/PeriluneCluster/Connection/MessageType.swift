/// The request types of the dqlite protocol that this client uses.
///
/// - SeeAlso: https://canonical.com/dqlite/docs/reference/wire-protocol
enum RequestType: UInt8 {
    case leader = 0, client = 1, open = 3, prepare = 4, exec = 5, query = 6, finalize = 7, execSQL = 8, querySQL = 9, dump = 15,
        cluster = 16
    /// Transfers leadership to another node.
    case transfer = 17
}

enum ResponseType: UInt8 {
    case failure = 0, server = 1, welcome = 2, servers = 3, database = 4, statement = 5, result = 6, rows = 7, empty = 8, files =
        9
}
