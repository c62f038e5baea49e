/// The rows of a value. Rows in the middle may be omitted.
struct ConsoleRows: Equatable, Sendable {
    var columns: [String] = []
    var head: [[Cell]] = []
    var tail: [[Cell]] = []
    /// The number of rows, including omitted ones.
    var count = 0
    /// A heading: the name of a class.
    var title: String?
    /// The SQL of a request.
    var sql: String?
    /// A note below the rows.
    var note: String?
    /// Whether the value is a single row or record instead of a list.
    var isSingle = false
    /// Whether the number of rows is meaningless.
    var hidesCount = false
}
