/// The kinds of built-in names in SQLite.
enum SQLNameKind: String {
    case function, pragma
}
