/// A textual description of a report for debugging. The command `perilune run --preview` prints tables instead.
///
///     sale: 1 updated, 1 deleted
///       ~ id 1, customer 'Verne', total 12.5 -> 20.0
///       - id 2, customer 'Melville', total 3.0
///     table note added
///     mail.send("Verne", "You owe 20.00.")
extension PreviewReport: CustomStringConvertible {
    public var description: String {
        guard hasChanges || !warnings.isEmpty else { return "no changes" }
        var lines = tables.flatMap { ["\($0.name): \($0.countsDescription)"] + $0.rowDescriptions }
        lines += schema.map { "\($0.type) \($0.name) \($0.kind)" }
        lines += effects.map { "\($0.name)(\($0.arguments.joined(separator: ", ")))" }
        lines += warnings.map { "warning: \($0)" }
        return lines.joined(separator: "\n")
    }
}

extension TableChanges {
    fileprivate var countsDescription: String {
        guard isCounted else { return "changed" }
        let counts = [(inserted, "inserted"), (updated, "updated"), (deleted, "deleted")].filter { $0.0 > 0 }
        return counts.map { "\($0) \($1)" }.joined(separator: ", ")
    }

    fileprivate var rowDescriptions: [String] {
        let lines = rows.map { row in "  \(row.mark) \(description(of: row))" }
        return hiddenCount > 0 && !rows.isEmpty ? lines + ["  and \(hiddenCount) more"] : lines
    }

    private func description(of row: RowChange) -> String {
        let values = row.newValues ?? row.oldValues ?? []
        let changed = row.changedPlaces
        return zip(columns, values).enumerated().map { index, column in
            let former = changed.contains(index) ? row.oldValues.map { "\($0[index]) -> " } : nil
            return "\(column.0) \(former ?? "")\(column.1)"
        }.joined(separator: ", ")
    }
}

extension RowChange {
    /// The character that marks a row in a list of changes.
    package var mark: String {
        switch kind {
        case .insert: "+"
        case .update: "~"
        case .delete: "-"
        }
    }
}

/// The value as an SQL literal. Long text is shortened, and blobs are described by their size.
extension StoredValue: CustomStringConvertible {
    public var description: String {
        switch self {
        case .null: "NULL"
        case .integer(let value): "\(value)"
        case .real(let value): "\(value)"
        case .text(let bytes):
            "'" + Self.shortened(String(decoding: bytes, as: UTF8.self)).replacing("'", with: "''") + "'"
        case .blob(let bytes): "a blob of \(bytes.count) bytes"
        }
    }

    private static func shortened(_ text: String) -> String {
        text.count > 60 ? text.prefix(59) + "…" : text
    }
}
