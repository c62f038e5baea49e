/// A writer for the changes of a plan: the changeset, and the unchanged columns of updated rows. Large data is written to
/// temporary files.
///
/// If a change cannot be stored, the writer records a ``failure`` instead of throwing an error, and no plan can be made.
final class PlanChangesWriter {
    /// The values of a row, as `sqlite3_value` pointers.
    typealias Row = ArraySlice<OpaquePointer?>

    /// The reason why a change could not be stored; `nil` if all changes are stored.
    private(set) var failure: String?
    private var changeset = ChangesetWriter()
    private var seen = ChangesetWriter()
    private let changesetSpool: ByteSpool
    private let seenSpool: ByteSpool
    private var outline = ChangesetOutline()
    private var table = ""
    /// Whether each column of the table belongs to the key, as a Boolean and as a byte in a changeset.
    private var (isKey, keyFlags): ([Bool], [UInt8]) = ([], [])

    /// - Parameter limitInBytes: The maximum size of each of the two files, in bytes.
    init(limitInBytes: Int) {
        (changesetSpool, seenSpool) = (ByteSpool(limitInBytes: limitInBytes), ByteSpool(limitInBytes: limitInBytes))
    }

    /// Begins the changes of a table. The caller must then add at least one change.
    func begin(_ table: PreviewTable) {
        let keyPositions = table.columns.map { UInt8(clamping: $0.keyPosition) }
        self.table = table.name
        isKey = keyPositions.map { $0 > 0 }
        keyFlags = isKey.map { $0 ? 1 : 0 }
        changeset.begin(table.name, keyPositions: keyPositions)
        outline.begin(table.name, isKey: isKey)
    }

    /// Adds an inserted or deleted row.
    func add(_ kind: RowChange.Kind, _ row: Row) {
        guard failure == nil else { return }
        changeset.beginChange(kind)
        for value in row { changeset.append(value) }
        outline.count(kind)
        flush(ifMoreThan: 64 << 10)
    }

    /// Adds an updated row.
    ///
    /// - Parameter isChanged: Whether the value of each column changed.
    func addUpdate(from old: Row, to new: Row, isChanged: [Bool]) {
        guard failure == nil else { return }
        changeset.beginChange(.update)
        for (index, value) in old.enumerated() { changeset.append(isKey[index] || isChanged[index] ? value : nil) }
        for (index, value) in new.enumerated() { changeset.append(isChanged[index] ? value : nil) }
        seen.begin(table, keyPositions: keyFlags)
        seen.beginChange(.delete)
        for (index, value) in new.enumerated() { seen.append(isChanged[index] ? nil : value) }
        outline.count(.update)
        for (index, isChanged) in isChanged.enumerated() where isChanged { outline.noteUpdated(index) }
        flush(ifMoreThan: 64 << 10)
    }

    private func flush(ifMoreThan limit: Int) {
        keep {
            try changeset.flush(to: changesetSpool, ifMoreThan: limit)
            try seen.flush(to: seenSpool, ifMoreThan: limit)
        }
    }

    /// Returns all added changes; `nil` after a ``failure``.
    func finish() -> PlanChanges? {
        flush(ifMoreThan: 0)
        guard failure == nil else { return nil }
        return keep {
            PlanChanges(
                changeset: ChangesetStream(try changesetSpool.finish()),
                seen: SeenRows(rows: ChangesetStream(try seenSpool.finish())),
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

    /// Records the reason why the changes cannot be stored.
    func fail(_ error: any Error) {
        failure = "the changes cannot be kept in a temporary file: \((error as? StorageError)?.reason ?? "\(error)")"
    }
}
