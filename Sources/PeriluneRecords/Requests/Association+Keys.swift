/// Comparison of an association's keys in the way that SQLite compares its columns.
extension Association {
    /// A form of key values in which Swift can compare them without SQLite.
    package enum KeyForm: String, Sendable {
        /// Numbers: texts that look like numbers equal these numbers.
        case number
        /// Texts: numbers equal their texts.
        case text
        /// Texts without regard to the case of ASCII letters, or to trailing spaces.
        case textNoCase, textTrimmed
        /// Unchanged values, which equal only themselves.
        case same
        /// Texts as in ``textNoCase`` and ``textTrimmed``, which never equal numbers.
        case sameNoCase, sameTrimmed
    }

    /// The forms of the columns, or `nil` if only SQLite can decide which keys are equal.
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
        // Texts in numeric columns compare by the collation.
        if target.isNumeric { return collation == "BINARY" ? .number : nil }
        if origin.isNumeric { return nil }
        switch (target, collation) {
        case (.blob, "BINARY"): return .same
        case (.blob, "NOCASE"): return .sameNoCase
        case (.blob, "RTRIM"): return .sameTrimmed
        // A number in a column without a type does not equal any text.
        case (.text, "BINARY"): return origin == .blob ? .same : .text
        case (.text, "NOCASE"): return origin == .blob ? .sameNoCase : .textNoCase
        case (.text, "RTRIM"): return origin == .blob ? .sameTrimmed : .textTrimmed
        default: return nil
        }
    }

    /// The anchor for rows whose keys are given when the request runs.
    var openAnchor: Reach.Anchor { keyForms == nil ? .openNumbered : .open }

    /// For each column, whether it is numeric and compared with one that is not: SQLite then compares texts that look like
    /// numbers as numbers, and `01` equals 1.
    package var comparesTextsAsNumbers: [Bool] { keyComparisons.ofOrigin.map { $0 == .asNumber } }

    /// The conversion of a stored value before it is compared with another column, so that the comparison equals SQLite's
    /// comparison of columns.
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

    /// The comparisons for stored values of the origin with columns of the first table, and for the opposite direction.
    package var keyComparisons: (ofOrigin: [KeyComparison], ofTarget: [KeyComparison]) {
        let affinities = hops[0].columns.map {
            (origin.type(ofColumn: $0.from).affinity, hops[0].table.type(ofColumn: $0.to).affinity)
        }
        return (affinities.map { KeyComparison(of: $0, with: $1) }, affinities.map { KeyComparison(of: $1, with: $0) })
    }

    /// For each column of the origin, the collation of the comparison if it is not the column's own.
    package var originCollations: [String?] {
        hops[0].columns.indices.map { index in
            let pair = hops[0].columns[index], collation = hops[0].collations[index] ?? hops[0].table.collation(of: pair.to)
            return collation == origin.collation(of: pair.from) ? nil : collation
        }
    }
}
