internal import Synchronization

/// The immutable schema of a table, a view, or the result of a request. Plans are cached by the identity of these objects, so a plan for
/// one schema is never used for another.
package final class TableSchema: Sendable {
    /// A number that is unique in the process and never reused.
    package let id: UInt32
    /// `main`, `temp` or the name of an attached database; empty for the result of a request.
    package let databaseName: String
    /// The name as spelled in the schema.
    package let name: String
    package let kind: Kind
    package let isWithoutRowID: Bool
    package let isStrict: Bool
    package let columns: [Column]
    /// The column positions of the primary key, in key order; empty without a primary key.
    package let primaryKey: [Int]
    /// Whether the primary key is an alias of the rowid: an INTEGER PRIMARY KEY.
    package let primaryKeyIsRowID: Bool
    /// The unique keys as column positions: the primary key, and the unique indexes that are neither partial nor on expressions.
    package let uniqueKeys: [[Int]]
    /// The unique keys whose values always differ under `=`. They leave out an index with a collation that distinguishes values that the
    /// column's own collation considers equal.
    package let distinctKeys: [[Int]]
    /// Whether ``uniqueKeys`` leaves out a unique index, because it is partial or on expressions.
    package let hasUnlistedKeys: Bool
    package let foreignKeys: [ForeignKey]
    /// The leading columns of all indexes that are not partial, to determine whether a key is indexed.
    let indexes: [[Int]]
    /// The columns of a row: all that `*` returns except lazy columns.
    package let visibleColumns: [Int]
    /// Whether `*` returns columns that rows leave out because they are lazy.
    let hasLazyColumns: Bool
    /// The field names of a record class; `nil` if fields have the names of the columns.
    package let fieldNames: FieldNames?
    /// The same table with the field names of record classes.
    let views = Mutex<[FieldNames: TableSchema]>([:])
    /// The SQL names of the rowid that are not also column names, the most common one first. Empty for views and WITHOUT ROWID tables.
    package let rowIDNames: [String]
    private let positions: NameIndex

    package enum Kind: String, Sendable, Equatable {
        case table, view, virtual
        /// A common table expression or a subrequest.
        case request
    }

    package struct Column: Sendable, Equatable {
        /// The name in requests: the column's own name, unless a record class renames it.
        package var name: String
        package let type: DeclaredType
        package let isNotNull: Bool
        /// The default as SQL text.
        package let defaultSQL: String?
        /// The position in the primary key, starting at 1; `nil` for other columns.
        package let primaryKeyPosition: Int?
        package let generation: Generation?
        /// Whether `*` leaves out the column, which happens in virtual tables.
        package let isHidden: Bool
        /// The collation, in upper case; `nil` for views and results of requests, for which SQLite does not report one.
        package let collation: String?
        /// The column's own name, if a record class renames it.
        var nameInDatabase: String?
        /// Whether rows leave out the column unless it is requested by name, because a record class declares it as lazy.
        var isLazy = false

        /// The column's own name, for SQL.
        package var sqlName: String { nameInDatabase ?? name }

        package enum Generation: String, Sendable { case virtual, stored }
    }

    package struct ForeignKey: Sendable, Equatable {
        package let table: String
        /// The names of the columns in this table, as spelled there.
        package let columns: [String]
        /// The names of the referenced columns, as spelled in the other table if it exists.
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

    /// The position that represents the rowid of tables that have one.
    package static let rowID = -1

    /// Returns the SQL names of the rowid that are not among the given column names.
    package static func rowIDNames(besides columns: some Sequence<String>) -> [String] {
        let columns = Set(columns.lazy.map(\.foldedName))
        return ["rowid", "_rowid_", "oid"].filter { !columns.contains($0) }
    }

    /// Returns the declared type of a column or of the rowid.
    package func type(ofColumn position: Int) -> DeclaredType {
        position == Self.rowID ? .rowID : columns[position].type
    }

    /// Returns the position of the column with the given name, ignoring case.
    package func column(named name: String) -> Int? {
        positions.position(of: name) ?? rowIDPosition(name)
    }

    /// Returns the position of the column with the given name, ignoring case, without allocating memory.
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

    /// Whether the primary key may be NULL, which SQLite allows. Several rows may then have the same key.
    var keyMayBeNull: Bool { primaryKey.contains(where: mayBeNull) }

    /// Whether the primary key identifies every row: it exists, and cannot be NULL.
    var hasCompleteKey: Bool { !primaryKey.isEmpty && !keyMayBeNull }

    /// The SQL name of the rowid; `nil` if the table has none.
    package var rowIDName: String? { rowIDNames.first }

    /// Returns whether another table is equal in its names and in everything else that affects requests.
    func isEqual(to other: TableSchema) -> Bool {
        databaseName == other.databaseName && name == other.name && kind == other.kind
            && isWithoutRowID == other.isWithoutRowID && isStrict == other.isStrict && columns == other.columns
            && primaryKey == other.primaryKey && primaryKeyIsRowID == other.primaryKeyIsRowID
            && uniqueKeys == other.uniqueKeys && distinctKeys == other.distinctKeys && hasUnlistedKeys == other.hasUnlistedKeys
            && foreignKeys == other.foreignKeys && indexes == other.indexes
    }

    /// Returns whether the given columns include all columns of a unique key. Several rows may have NULL in such a key.
    package func containsUniqueKey(_ columns: some Sequence<Int>) -> Bool { Self.contain(Set(columns), distinctKeys) }

    /// Returns whether all rows differ in the given columns, because these include a unique key that cannot be NULL.
    func distinguishesRows(_ columns: some Sequence<Int>) -> Bool {
        Self.contain(Set(columns), distinctKeys.filter { !$0.contains(where: mayBeNull) })
    }

    private static func contain(_ columns: Set<Int>, _ keys: [[Int]]) -> Bool {
        columns.contains(rowID) || keys.contains { columns.isSuperset(of: $0) }
    }
}
