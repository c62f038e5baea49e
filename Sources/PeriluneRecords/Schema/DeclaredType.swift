/// What the declared type of a column says about its values. This is decided here alone; all else asks, or is handed the answer
/// with the schema.
///
/// The *name* of a type is what stands before its parenthesis, without the blanks around it, in any case: that of
/// `Boolean ( 1 )` is `BOOLEAN`. Constraints such as `NOT NULL` are not part of a type. A name is compared as a whole: `BOOLEAN
/// UNSIGNED` is another one, as is `BOOLEANS`.
package struct DeclaredType: Sendable, Equatable {
    /// What the fields of records and rows hold, beyond what SQLite stores; `nil` where they hold just that.
    package enum Content: String, Sendable {
        /// `BOOLEAN` and `BOOL`: true or false, stored as integers.
        case boolean
        /// `DATE`, `DATETIME` and `TIMESTAMP`.
        case date
        /// Types with BLOB affinity that are not empty, as `BLOB` and `LONGBLOB`, but not `ANY`: strings are bytes.
        case blob
    }

    /// What SQLite makes of values before it stores them, and before it compares them with those of the column.
    ///
    /// - SeeAlso: SQLite, "Datatypes In SQLite", 3.1.
    package enum Affinity: String, Sendable {
        case integer, text, blob, real, numeric

        /// Whether texts that look like numbers become numbers.
        package var isNumeric: Bool { self == .integer || self == .real || self == .numeric }
    }

    /// The text of the declaration; empty if it has none.
    package let text: String
    package let content: Content?
    package let affinity: Affinity

    /// - Parameter isStrict: Whether the table is STRICT, where `ANY` means that nothing is converted.
    package init(_ text: String, isStrict: Bool = false) {
        let folded = text.foldedName
        self.text = text
        affinity = isStrict && folded == "any" ? .blob : Self.affinity(of: folded)
        switch Self.name(of: folded.utf8) {
        case "boolean", "bool": content = .boolean
        case "date", "datetime", "timestamp": content = .date
        default: content = affinity == .blob && folded.contains("blob") ? .blob : nil
        }
    }

    /// That of values without a type.
    static let none = DeclaredType("")
    /// That of row ids.
    static let rowID = DeclaredType("INTEGER")
    /// That of conditions.
    static let condition = DeclaredType("BOOLEAN")

    /// Whether a PRIMARY KEY of this type is the row id, if nothing else speaks against it.
    var isIntegerKey: Bool { text.foldedName == "integer" }

    private static func affinity(of folded: String) -> Affinity {
        func has(_ words: String...) -> Bool { words.contains { folded.contains($0) } }
        // In this order: `CHARINT` is one of integers.
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
