internal import Synchronization

/// The schema of a table, a view, or a request's common table expression. It is immutable. Compiled requests distinguish objects by
/// identity, so that a request compiled for one object is not used for another.
package final class TableSchema: Sendable {
    /// Unique among all table objects of the process.
    package let id: UInt32
    /// `main`, `temp` or the name of an attached database; empty for a table that only a request has.
    package let databaseName: String
    /// The name as spelled in the schema.
    package let name: String
    package let kind: Kind
    package let isWithoutRowID: Bool
    package let isStrict: Bool
    package let columns: [Column]
    /// The positions of the key's columns, in the order of the key; empty without a key.
    package let primaryKey: [Int]
    /// Whether the primary key is the row id: an INTEGER PRIMARY KEY.
    package let primaryKeyIsRowID: Bool
    /// The unique keys, as positions of columns: the primary key and the unique indexes that are neither partial nor on
    /// expressions.
    package let uniqueKeys: [[Int]]
    /// The unique keys that `=` respects. An index may use a different collation than its column and distinguish rows that `=` does
    /// not.
    package let distinctKeys: [[Int]]
    /// Whether a unique index is partial or on expressions, so that ``uniqueKeys`` does not contain it.
    package let hasUnlistedKeys: Bool
    package let foreignKeys: [ForeignKey]
    /// The leading columns of all indexes that are not partial, to find out whether a key is indexed.
    let indexes: [[Int]]
    /// The columns that `*` returns.
    package let visibleColumns: [Int]
    /// Whether `*` returns columns that rows leave out.
    let hasLazyColumns: Bool
    /// The names that a record class gives to the columns; `nil` for the names in the database.
    package let fieldNames: FieldNames?
    /// The table with the names of record classes.
    let views = Mutex<[FieldNames: TableSchema]>([:])
    /// The SQL names for the row id that are not names of columns, the usual one first. Empty for views and tables WITHOUT ROWID.
    package let rowIDNames: [String]
    private let positions: NameIndex

    package enum Kind: String, Sendable, Equatable {
        case table, view, virtual
        /// A common table expression or a subrequest.
        case request
    }

    package struct Column: Sendable, Equatable {
        /// The name in requests: the database name, unless a record class renames the column.
        package var name: String
        package let type: DeclaredType
        package let isNotNull: Bool
        /// The default as SQL text.
        package let defaultSQL: String?
        /// The position in the primary key, from 1.
        package let primaryKeyPosition: Int?
        package let generation: Generation?
        /// Left out by `*`, as in virtual tables.
        package let isHidden: Bool
        /// The collation, in upper case for SQLite's own; `nil` for views and request tables, for which SQLite does not report it.
        package let collation: String?
        /// The name in the database, if a record class renames the column.
        var nameInDatabase: String?
        /// Left out of rows unless requested by name, as a record class defines it.
        var isLazy = false

        /// The name in SQL.
        package var sqlName: String { nameInDatabase ?? name }

        package enum Generation: String, Sendable { case virtual, stored }
    }

    package struct ForeignKey: Sendable, Equatable {
        package let table: String
        /// The column names in the database, as spelled in this table.
        package let columns: [String]
        /// The referenced names, as spelled in the other table's schema if it exists.
        package let referencedColumns: [String]
        /// The action in lower case: "no action", "restrict", "set null", "set default", "cascade".
        package let onDelete: String
        package let onUpdate: String
    }

    init(
        databaseName: String, name: String, kind: Kind, isWithoutRowID: Bool = false, isStrict: Bool = false,
        columns: [Column], primaryKey: [Int] = [], primaryKeyIsRowID: Bool = false, uniqueKeys: [[Int]] = [],
        distinctKeys: [[Int]] = [], hasUnlistedKeys: Bool = false, foreignKeys: [ForeignKey] = [], indexes: [[Int]] = [],
        fieldNames: FieldNames? = nil
    ) {
        id = Self.lastID.withLock {
            $0 += 1; return $0
        }
        self.databaseName = databaseName
        self.name = name
        self.kind = kind
        self.isWithoutRowID = isWithoutRowID
        self.isStrict = isStrict
        self.columns = columns
        self.primaryKey = primaryKey
        self.primaryKeyIsRowID = primaryKeyIsRowID
        self.uniqueKeys = uniqueKeys
        self.distinctKeys = distinctKeys
        self.hasUnlistedKeys = hasUnlistedKeys
        self.foreignKeys = foreignKeys
        self.indexes = indexes
        self.fieldNames = fieldNames
        visibleColumns = columns.indices.filter { !columns[$0].isHidden && !columns[$0].isLazy }
        hasLazyColumns = columns.contains(where: \.isLazy)
        positions = NameIndex(columns.map(\.name))
        let hasRowID = !isWithoutRowID && (kind == .table || kind == .virtual)
        rowIDNames = hasRowID ? Self.rowIDNames(besides: columns.lazy.map(\.sqlName)) : []
    }

    private static let lastID = Mutex<UInt32>(0)

    /// Represents the row id where a column position is expected, in tables that have one.
    package static let rowID = -1

    /// Returns the SQL names for the row id of a table with these columns, without names of columns.
    package static func rowIDNames(besides columns: some Sequence<String>) -> [String] {
        let columns = Set(columns.lazy.map(\.foldedName))
        return ["rowid", "_rowid_", "oid"].filter { !columns.contains($0) }
    }

    /// Returns the declared type of a column or of the row id.
    package func type(ofColumn position: Int) -> DeclaredType {
        position == Self.rowID ? .rowID : columns[position].type
    }

    /// Returns the position of a column, in any case.
    package func column(named name: String) -> Int? {
        positions.position(of: name) ?? rowIDPosition(name)
    }

    /// Returns the position of a column, in any case, without allocating memory.
    package func column(named name: UnsafeBufferPointer<UInt8>) -> Int? {
        positions.position(of: name) ?? rowIDPosition(String(decoding: name.prefix(8), as: UTF8.self))
    }

    private func rowIDPosition(_ name: String) -> Int? {
        guard !rowIDNames.isEmpty, rowIDNames.contains(name.foldedName) else { return nil }
        return primaryKeyIsRowID ? primaryKey[0] : Self.rowID
    }

    /// Returns whether a column may hold NULL.
    func mayBeNull(_ position: Int) -> Bool {
        position != Self.rowID && !columns[position].isNotNull && !(primaryKeyIsRowID && primaryKey == [position])
    }

    /// Whether rows may have NULL in their primary key, as SQLite allows. Several rows may then have the same key.
    var keyMayBeNull: Bool { primaryKey.contains(where: mayBeNull) }

    /// Whether the primary key identifies every row: the table has one, and it cannot be NULL.
    var hasCompleteKey: Bool { !primaryKey.isEmpty && !keyMayBeNull }

    /// The name of the row id, if it has one.
    package var rowIDName: String? { rowIDNames.first }

    /// Returns whether another table has the same spelling and is equal in everything that affects requests.
    func isEqual(to other: TableSchema) -> Bool {
        databaseName == other.databaseName && name == other.name && kind == other.kind
            && isWithoutRowID == other.isWithoutRowID && isStrict == other.isStrict && columns == other.columns
            && primaryKey == other.primaryKey && primaryKeyIsRowID == other.primaryKeyIsRowID
            && uniqueKeys == other.uniqueKeys && distinctKeys == other.distinctKeys && hasUnlistedKeys == other.hasUnlistedKeys
            && foreignKeys == other.foreignKeys && indexes == other.indexes
    }

    /// Returns whether these columns, in any order, contain a unique key. Several rows may have NULL in such a key.
    package func containsUniqueKey(_ columns: some Sequence<Int>) -> Bool { Self.contain(Set(columns), distinctKeys) }

    /// Returns whether all rows differ in these columns, because they contain a unique key that cannot be NULL.
    func distinguishesRows(_ columns: some Sequence<Int>) -> Bool {
        Self.contain(Set(columns), distinctKeys.filter { !$0.contains(where: mayBeNull) })
    }

    private static func contain(_ columns: Set<Int>, _ keys: [[Int]]) -> Bool {
        columns.contains(rowID) || keys.contains { columns.isSuperset(of: $0) }
    }
}
