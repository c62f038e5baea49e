/// Writes the changes of a plan as they are found: the changeset, and the rows that it has seen. Large ones go to temporary files.
///
/// Failing to keep a change is not an error: no plan is possible then, but the changes are still counted.
final class PlanChangesWriter {
    /// The values of a row, as SQLite has them.
    typealias Row = ArraySlice<OpaquePointer?>

    /// Why the changes are not kept; `nil` if they are.
    private(set) var failure: String?
    private var changeset = ChangesetWriter()
    private var seen = ChangesetWriter()
    private let changesetSpool: ByteSpool
    private let seenSpool: ByteSpool
    private var outline = ChangesetOutline()
    private var table = ""
    /// For each column of the table.
    private var (isKey, keyFlags): ([Bool], [UInt8]) = ([], [])

    /// - Parameter limitInBytes: How large each of the files may become.
    init(limitInBytes: Int) {
        (changesetSpool, seenSpool) = (ByteSpool(limitInBytes: limitInBytes), ByteSpool(limitInBytes: limitInBytes))
    }

    /// Begins the changes of a table, of which there is at least one.
    func begin(_ table: PreviewTable) {
        let keyPositions = table.columns.map { UInt8(clamping: $0.keyPosition) }
        self.table = table.name
        isKey = keyPositions.map { $0 > 0 }
        keyFlags = isKey.map { $0 ? 1 : 0 }
        changeset.begin(table.name, keyPositions: keyPositions)
        outline.begin(table.name, isKey: isKey)
    }

    /// Adds a row that was inserted or deleted.
    func add(_ kind: RowChange.Kind, _ row: Row) {
        guard failure == nil else { return }
        changeset.beginChange(kind)
        for value in row { changeset.append(value) }
        outline.count(kind)
        flush(ifMoreThan: 64 << 10)
    }

    /// Adds a row that was updated.
    ///
    /// - Parameter isChanged: For each column whether it was.
    func addUpdate(from old: Row, to new: Row, isChanged: [Bool]) {
        guard failure == nil else { return }
        changeset.beginChange(.updated)
        for (index, value) in old.enumerated() { changeset.append(isKey[index] || isChanged[index] ? value : nil) }
        for (index, value) in new.enumerated() { changeset.append(isChanged[index] ? value : nil) }
        seen.begin(table, keyPositions: keyFlags)
        seen.beginChange(.deleted)
        for (index, value) in new.enumerated() { seen.append(isChanged[index] ? nil : value) }
        outline.count(.updated)
        for (index, isChanged) in isChanged.enumerated() where isChanged { outline.noteUpdated(index) }
        flush(ifMoreThan: 64 << 10)
    }

    private func flush(ifMoreThan limit: Int) {
        keep {
            try changeset.flush(to: changesetSpool, ifMoreThan: limit)
            try seen.flush(to: seenSpool, ifMoreThan: limit)
        }
    }

    /// All that was added; `nil` if there is a ``failure``.
    func finish() -> PlanChanges? {
        flush(ifMoreThan: 0)
        guard failure == nil else { return nil }
        return keep {
            PlanChanges(
                changeset: ChangesetStream(try changesetSpool.finish()), seen: SeenRows(rows: ChangesetStream(try seenSpool.finish())),
                outline: outline)
        }
    }

    @discardableResult
    private func keep<Result>(_ operation: () throws -> Result) -> Result? {
        do {
            return try operation()
        } catch {
            fail(error)
            return nil
        }
    }

    /// Notes why the changes cannot be kept.
    func fail(_ error: any Error) {
        failure = "the changes cannot be kept in a temporary file: \((error as? StorageError)?.reason ?? "\(error)")"
    }
}
