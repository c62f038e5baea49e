/// The interpretation of a column's declared type, which all other code obtains from here.
///
/// The *name* of a type is the text before its parenthesis, without surrounding whitespace and ignoring case: the name of `Boolean ( 1 )`
/// is `BOOLEAN`. Constraints such as `NOT NULL` are not part of the type. Names must match completely: `BOOLEAN UNSIGNED` and `BOOLEANS`
/// are different names.
package struct DeclaredType: Sendable, Equatable {
    /// The type of values in fields of records and rows, if it differs from SQLite's stored type.
    package enum Content: String, Sendable {
        /// `BOOLEAN` and `BOOL`: booleans, stored as integers.
        case boolean
        /// `DATE`: dates, stored without a time of day.
        case day
        /// `DATETIME` and `TIMESTAMP`: dates, stored with a time of day.
        case date
        /// Types with BLOB affinity whose name contains `BLOB`, such as `LONGBLOB`: strings are stored as bytes.
        case blob
    }

    /// The conversion that SQLite applies to values when it stores them or compares them with the column.
    ///
    /// - SeeAlso: SQLite, "Datatypes In SQLite", 3.1.
    package enum Affinity: String, Sendable {
        case integer, text, blob, real, numeric

        /// Whether texts that look like numbers are converted to numbers.
        package var isNumeric: Bool { self == .integer || self == .real || self == .numeric }
    }

    /// The declared type as written; empty for a column without a type.
    package let text: String
    package let content: Content?
    package let affinity: Affinity

    /// - Parameter isStrict: Whether the table is STRICT, in which case `ANY` does not convert values.
    package init(_ text: String, isStrict: Bool = false) {
        let folded = text.foldedName
        self.text = text
        affinity = isStrict && folded == "any" ? .blob : Self.affinity(of: folded)
        switch Self.name(of: folded.utf8) {
        case "boolean", "bool": content = .boolean
        case "date": content = .day
        case "datetime", "timestamp": content = .date
        default: content = affinity == .blob && Self.contains(folded, "blob") ? .blob : nil
        }
    }

    /// The type of values without a declared type.
    static let none = DeclaredType("")
    /// The type of rowids.
    static let rowID = DeclaredType("INTEGER")
    /// The type of conditions.
    static let condition = DeclaredType("BOOLEAN")

    /// Whether a PRIMARY KEY of this type can be an alias of the rowid.
    var isIntegerKey: Bool { text.foldedName == "integer" }

    private static func affinity(of folded: String) -> Affinity {
        func has(_ words: String...) -> Bool { words.contains { contains(folded, $0) } }
        // The order of these checks matters: `CHARINT` has integer affinity.
        if has("int") { return .integer }
        if has("char", "clob", "text") { return .text }
        if folded.isEmpty || has("blob") { return .blob }
        return has("real", "floa", "doub") ? .real : .numeric
    }

    /// Returns whether text contains a word. Compares bytes, which is faster than the string functions.
    private static func contains(_ text: String, _ word: String) -> Bool {
        text.utf8.indices.contains { text.utf8[$0...].starts(with: word.utf8) }
    }

    private static func name(of folded: String.UTF8View) -> Substring {
        var name = folded.prefix { $0 != UInt8(ascii: "(") }.drop(while: \.isSQLSpace)
        while name.last?.isSQLSpace == true { name.removeLast() }
        return Substring(name)
    }
}
