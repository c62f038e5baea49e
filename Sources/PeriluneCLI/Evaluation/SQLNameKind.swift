/// A kind of built-in SQLite name.
enum SQLNameKind: String {
    case function, pragma
}
