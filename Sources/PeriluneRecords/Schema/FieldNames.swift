/// The field names that a record class gives to columns, encoded as text. Each renamed or lazy column has three entries, which end with
/// NUL: the column name, the field name, and `lazy` or nothing. Names cannot contain NUL.
package struct FieldNames: Hashable, Sendable {
    let text: String

    package init(_ text: String) { self.text = text }

    fileprivate var entries: [(column: Substring, field: Substring, isLazy: Bool)] {
        let parts = text.split(separator: "\0", omittingEmptySubsequences: false)
        return stride(from: 0, to: parts.count - 2, by: 3).map { (parts[$0], parts[$0 + 1], parts[$0 + 2] == "lazy") }
    }
}

extension TableSchema {
    /// Returns the table with the field names of a record class: requests use field names, and their SQL uses column names. The same names
    /// return the same object.
    package func named(by names: FieldNames?) -> TableSchema {
        guard let names else { return self }
        return views.withLock { views in
            if let known = views[names] { return known }
            let view = makeView(names)
            // A class uses one set of names per table, so this many sets indicate classes that are created repeatedly.
            if views.count >= 64 { views.removeAll() }
            views[names] = view
            return view
        }
    }

    private func makeView(_ names: FieldNames) -> TableSchema {
        var columns = columns
        for entry in names.entries {
            guard let position = column(named: String(entry.column)), position >= 0 else { continue }
            if columns[position].name != entry.field {
                columns[position].nameInDatabase = columns[position].name
                columns[position].name = String(entry.field)
            }
            columns[position].isLazy = entry.isLazy
        }
        return TableSchema(
            databaseName: databaseName, name: name, kind: kind, isWithoutRowID: isWithoutRowID, isStrict: isStrict,
            columns: columns,
            primaryKey: primaryKey, primaryKeyIsRowID: primaryKeyIsRowID, uniqueKeys: uniqueKeys, distinctKeys: distinctKeys,
            hasUnlistedKeys: hasUnlistedKeys, foreignKeys: foreignKeys, indexes: indexes, fieldNames: names)
    }

    /// Returns the position of the column with the given name in the database, ignoring case.
    package func column(inDatabase name: String) -> Int? {
        guard fieldNames != nil else { return column(named: name) }
        let folded = name.foldedName
        return columns.firstIndex { $0.sqlName.foldedName == folded } ?? (rowIDNames.contains(folded) ? column(named: name) : nil)
    }

    /// The columns that `SELECT *` returns.
    var storedColumns: [Int] { columns.indices.filter { !columns[$0].isHidden } }
}
