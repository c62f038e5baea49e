/// A console value that consists of rows. Rows in the middle may be omitted.
struct ConsoleRows: Equatable, Sendable {
    var columns: [String] = []
    var head: [[Cell]] = []
    var tail: [[Cell]] = []
    /// The number of rows, including omitted ones.
    var count = 0
    /// A heading, such as the name of a record class.
    var title: String?
    /// The SQL of a request.
    var sql: String?
    /// A note below the rows.
    var note: String?
    /// Whether the value is a single row or record instead of a list.
    var isSingle = false
    /// Whether the number of rows is meaningless and not shown.
    var hidesCount = false
}
