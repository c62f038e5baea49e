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
        if target.isNumeric { return .number }
        if origin.isNumeric, target == .blob || hops[0].columns.count == 1 { return nil }
        switch (target, collation) {
        case (.blob, "BINARY"): return .same
        case (.text, "BINARY"): return .text
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

    private func comparesNumbers(with target: DeclaredType.Affinity) -> Bool {
        let pair = hops[0].columns[0]
        return hops[0].columns.count == 1 && origin.type(ofColumn: pair.from).affinity.isNumeric
            && hops[0].table.type(ofColumn: pair.to).affinity == target
    }
}
