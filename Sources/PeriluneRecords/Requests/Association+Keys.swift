/// Which keys of rows are equal, as SQLite compares the columns of an association.
extension Association {
    /// What equal keys have in common, so that they can be compared without SQLite.
    package enum KeyForm: String, Sendable {
        /// Texts that look like numbers are these numbers.
        case number
        /// Numbers are texts.
        case text
        /// Texts whose ASCII letters differ by case are equal; those that differ by spaces at the end.
        case textNoCase, textTrimmed
        /// The values themselves.
        case same
    }

    /// Those of the columns, or `nil` if only SQLite can decide which keys are equal.
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
        // Texts in columns of numbers are compared by the collation.
        if target.isNumeric { return collation == "BINARY" ? .number : nil }
        if origin.isNumeric, target == .blob || hops[0].columns.count == 1 { return nil }
        switch (target, collation) {
        case (.blob, "BINARY"): return .same
        // A number in a column without a type is equal to no text.
        case (.text, "BINARY"): return origin == .blob ? .same : .text
        case (.text, "NOCASE"): return .textNoCase
        case (.text, "RTRIM"): return .textTrimmed
        default: return nil
        }
    }

    /// For rows associated with those whose keys are given when the request runs.
    var openAnchor: Reach.Anchor { keyForms == nil ? .openNumbered : .open }

    /// Whether numbers may meet texts that look like them, which SQLite takes for equal where a column of numbers is compared with
    /// one without a type.
    var comparesNumbersWithAnything: Bool { comparesNumbers(with: .blob) }

    /// Whether texts that look like numbers are compared as numbers: `01` is equal to 1 where a column of numbers is compared with
    /// one of texts.
    package var comparesTextsAsNumbers: Bool { comparesNumbers(with: .text) }

    /// How what is stored in one column is compared with another column, so that the two are equal as SQLite has it for columns.
    package enum KeyComparison: String, Sendable {
        case plain
        /// Texts that look like numbers are compared as numbers.
        case asNumber
        /// A number is equal to no text.
        case textsOnly

        init(of origin: DeclaredType.Affinity, with target: DeclaredType.Affinity) {
            self = target != .text || origin == .text ? .plain : origin.isNumeric ? .asNumber : .textsOnly
        }
    }

    /// How what the origin has stored is compared with the columns of the first table that it leads to; and the other way round.
    package var keyComparisons: (ofOrigin: [KeyComparison], ofTarget: [KeyComparison]) {
        let affinities = hops[0].columns.map { (origin.type(ofColumn: $0.from).affinity, hops[0].table.type(ofColumn: $0.to).affinity) }
        return (affinities.map { KeyComparison(of: $0, with: $1) }, affinities.map { KeyComparison(of: $1, with: $0) })
    }

    /// For each column of the origin the collation that it is compared by, if that is not its own.
    package var originCollations: [String?] {
        hops[0].columns.indices.map { index in
            let pair = hops[0].columns[index], collation = hops[0].collations[index] ?? hops[0].table.collation(of: pair.to)
            return collation == origin.collation(of: pair.from) ? nil : collation
        }
    }

    private func comparesNumbers(with target: DeclaredType.Affinity) -> Bool {
        let pair = hops[0].columns[0]
        return hops[0].columns.count == 1 && origin.type(ofColumn: pair.from).affinity.isNumeric
            && hops[0].table.type(ofColumn: pair.to).affinity == target
    }
}
