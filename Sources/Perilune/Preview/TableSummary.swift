/// The number of changes of a table, and the first changed rows of each kind.
struct TableSummary {
    private struct Sample {
        let key: [StoredValue]
        let change: RowChange
    }

    private var changes: TableChanges
    private var samples: [RowChange.Kind: [Sample]] = [:]
    private let rowLimit: Int

    /// - Parameters:
    ///   - key: The names of the key columns.
    ///   - rowLimit: The maximum number of rows of each kind to keep. The rows with the smallest keys are kept.
    init(name: String, columns: [String], key: [String], rowLimit: Int) {
        changes = TableChanges(name: name)
        (changes.columns, changes.key) = (columns, key)
        self.rowLimit = rowLimit
    }

    /// Counts a change.
    ///
    /// - Parameters:
    ///   - key: The values of the key, in the order of the columns.
    ///   - change: The changed row, evaluated only if it is kept.
    mutating func count(_ kind: RowChange.Kind, key: @autoclosure () -> [StoredValue], _ change: @autoclosure () -> RowChange) {
        switch kind {
        case .insert: changes.inserted += 1
        case .update: changes.updated += 1
        case .delete: changes.deleted += 1
        }
        guard rowLimit > 0 else { return }
        guard rowLimit < .max else {
            // All rows are kept, so they are sorted only at the end.
            samples[kind, default: []].append(Sample(key: key(), change: change()))
            return
        }
        let key = key()
        if let kept = samples[kind], kept.count == rowLimit, !key.lexicographicallyPrecedes(kept[rowLimit - 1].key) { return }
        insert(Sample(key: key, change: change()), to: &samples[kind, default: []])
    }

    private func insert(_ sample: Sample, to samples: inout [Sample]) {
        if samples.count == rowLimit { samples.removeLast() }
        let place = samples.firstIndex { sample.key.lexicographicallyPrecedes($0.key) } ?? samples.endIndex
        samples.insert(sample, at: place)
    }

    /// Returns the counts, and the rows sorted by key.
    func finish() -> TableChanges {
        var changes = changes
        changes.rows = [RowChange.Kind.insert, .delete, .update].flatMap { samples[$0] ?? [] }.map(\.change)
        changes.sortRows()
        changes.nameValues()
        return changes
    }
}
