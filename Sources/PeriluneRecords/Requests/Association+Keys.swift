/// Comparison of an association's keys with the same result as SQLite's comparison of the columns.
extension Association {
    /// A normal form of key values, which Swift can compare without SQLite.
    package enum KeyForm: String, Sendable {
        /// Numbers. Texts that look like numbers are converted to them.
        case number
        /// Texts. Numbers are converted to texts.
        case text
        /// Texts, ignoring the case of ASCII letters or trailing spaces. Numbers are converted to texts.
        case textNoCase, textTrimmed
        /// Unchanged values of any type.
        case same
        /// Texts, ignoring the case of ASCII letters or trailing spaces, and unchanged values of other types.
        case sameNoCase, sameTrimmed
    }

    /// The forms of the key columns, or `nil` if only SQLite can decide which keys are equal.
    package var keyForms: [KeyForm]? {
        let forms = hops[0].columns.indices.map { index in
            let pair = hops[0].columns[index]
            let collation = hops[0].collations[index] ?? hops[0].table.collation(of: pair.to)
            return form(origin.type(ofColumn: pair.from).affinity, pair.to, collation)
        }
        return forms.contains(nil) ? nil : forms.compactMap { $0 }
    }

    private func form(_ origin: DeclaredType.Affinity, _ position: Int, _ collation: String) -> KeyForm? {
        let table = hops[0].table
        let target = table.type(ofColumn: position).affinity
        // Texts in numeric columns are compared with the collation.
        if target.isNumeric { return collation == "BINARY" ? .number : nil }
        if origin.isNumeric { return nil }
        switch (target, collation) {
        case (.blob, "BINARY"): return .same
        case (.blob, "NOCASE"): return .sameNoCase
        case (.blob, "RTRIM"): return .sameTrimmed
        // A number in a column without affinity does not equal any text.
        case (.text, "BINARY"): return origin == .blob ? .same : .text
        case (.text, "NOCASE"): return origin == .blob ? .sameNoCase : .textNoCase
        case (.text, "RTRIM"): return origin == .blob ? .sameTrimmed : .textTrimmed
        default: return nil
        }
    }

    /// The anchor for rows whose keys are bound when the request runs.
    var openAnchor: Reach.Anchor { keyForms == nil ? .openNumbered : .open }

    /// For each key column, whether it is numeric and compared with a column that is not: SQLite then compares texts that look
    /// like numbers as numbers, and `01` equals 1.
    package var comparesTextsAsNumbers: [Bool] { keyComparisons.ofOrigin.map { $0 == .asNumber } }

    /// The conversion of a stored value before its comparison with another column. After it, values compare as SQLite compares
    /// the columns.
    package enum KeyComparison: String, Sendable {
        case plain
        /// Texts that look like numbers are compared as numbers.
        case asNumber
        /// Numbers do not equal any text.
        case textsOnly

        init(of origin: DeclaredType.Affinity, with target: DeclaredType.Affinity) {
            self = origin.isNumeric && !target.isNumeric ? .asNumber : origin == .blob && target == .text ? .textsOnly : .plain
        }
    }

    /// The comparisons of the origin's stored values with columns of the first table, and the comparisons in the opposite
    /// direction.
    package var keyComparisons: (ofOrigin: [KeyComparison], ofTarget: [KeyComparison]) {
        let affinities = hops[0].columns.map {
            (origin.type(ofColumn: $0.from).affinity, hops[0].table.type(ofColumn: $0.to).affinity)
        }
        return (affinities.map { KeyComparison(of: $0, with: $1) }, affinities.map { KeyComparison(of: $1, with: $0) })
    }

    /// For each key column of the origin, the collation of the comparison; `nil` if it is the column's collation.
    package var originCollations: [String?] {
        hops[0].columns.indices.map { index in
            let pair = hops[0].columns[index], collation = hops[0].collations[index] ?? hops[0].table.collation(of: pair.to)
            return collation == origin.collation(of: pair.from) ? nil : collation
        }
    }
}
