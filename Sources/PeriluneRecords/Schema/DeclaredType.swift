/// The meaning of a column's declared type. It is decided only here; all other code asks this type or receives the answer with the
/// schema.
///
/// The *name* of a type is the text before its parenthesis, without surrounding blanks and in any case: for `Boolean ( 1 )` it is
/// `BOOLEAN`. Constraints such as `NOT NULL` are not part of a type. Names are compared as a whole: `BOOLEAN UNSIGNED` and
/// `BOOLEANS` are different names.
package struct DeclaredType: Sendable, Equatable {
    /// The values in fields of records and rows, if they differ from SQLite's stored values; otherwise `nil`.
    package enum Content: String, Sendable {
        /// `BOOLEAN` and `BOOL`: booleans, stored as integers.
        case boolean
        /// `DATE`: dates, stored as days.
        case day
        /// `DATETIME` and `TIMESTAMP`: dates, stored in full.
        case date
        /// Types with BLOB affinity that are not empty, such as `BLOB` and `LONGBLOB`, but not `ANY`: strings are bytes.
        case blob
    }

    /// The conversion that SQLite applies to values before it stores them or compares them with the column.
    ///
    /// - SeeAlso: SQLite, "Datatypes In SQLite", 3.1.
    package enum Affinity: String, Sendable {
        case integer, text, blob, real, numeric

        /// Whether texts that look like numbers become numbers.
        package var isNumeric: Bool { self == .integer || self == .real || self == .numeric }
    }

    /// The text of the declaration; empty without one.
    package let text: String
    package let content: Content?
    package let affinity: Affinity

    /// - Parameter isStrict: Whether the table is STRICT, where `ANY` converts nothing.
    package init(_ text: String, isStrict: Bool = false) {
        let folded = text.foldedName
        self.text = text
        affinity = isStrict && folded == "any" ? .blob : Self.affinity(of: folded)
        switch Self.name(of: folded.utf8) {
        case "boolean", "bool": content = .boolean
        case "date": content = .day
        case "datetime", "timestamp": content = .date
        default: content = affinity == .blob && folded.contains("blob") ? .blob : nil
        }
    }

    /// The type of values without a declaration.
    static let none = DeclaredType("")
    /// The type of row ids.
    static let rowID = DeclaredType("INTEGER")
    /// The type of conditions.
    static let condition = DeclaredType("BOOLEAN")

    /// Whether a PRIMARY KEY of this type can be the row id.
    var isIntegerKey: Bool { text.foldedName == "integer" }

    private static func affinity(of folded: String) -> Affinity {
        func has(_ words: String...) -> Bool { words.contains { folded.contains($0) } }
        // The order matters: `CHARINT` is an integer type.
        if has("int") { return .integer }
        if has("char", "clob", "text") { return .text }
        if folded.isEmpty || has("blob") { return .blob }
        return has("real", "floa", "doub") ? .real : .numeric
    }

    private static func name(of folded: String.UTF8View) -> Substring {
        var name = folded.prefix { $0 != UInt8(ascii: "(") }.drop(while: \.isSQLSpace)
        while name.last?.isSQLSpace == true { name.removeLast() }
        return Substring(name)
    }
}
