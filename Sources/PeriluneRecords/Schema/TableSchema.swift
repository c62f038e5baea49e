internal import Synchronization

/// What a table, a view, or a common table expression of a request looks like. Immutable; two objects are never the same table
/// for a compiled request, so that what was compiled against one is not used for another.
package final class TableSchema: Sendable {
    /// Unlike that of any other table object of this process.
    package let id: UInt32
    /// `main`, `temp` or the name of an attached database; empty for a table that only a request has.
    package let databaseName: String
    /// The spelling in the schema.
    package let name: String
    package let kind: Kind
    package let isWithoutRowID: Bool
    package let isStrict: Bool
    package let columns: [Column]
    /// The positions of the key's columns, in the order of the key; empty if there is none.
    package let primaryKey: [Int]
    /// Whether the primary key is the row id itself: an INTEGER PRIMARY KEY.
    package let primaryKeyIsRowID: Bool
    /// The keys that no two rows share, as positions of columns: the primary key and the unique indexes that are neither partial
    /// nor on expressions.
    package let uniqueKeys: [[Int]]
    /// Those of the unique keys whose columns no two rows have equal: an index may compare by another collation than its column does, and
    /// tell rows apart that `=` does not.
    package let distinctKeys: [[Int]]
    package let foreignKeys: [ForeignKey]
    /// The columns with which the indexes begin that are not partial, for finding whether a key is indexed.
    let indexes: [[Int]]
    /// The columns that `*` stands for.
    package let visibleColumns: [Int]
    /// Whether `*` brings columns that rows are to be without.
    let hasLazyColumns: Bool
    /// What a record class calls the columns; `nil` for the table as it is in the database.
    package let fieldNames: FieldNames?
    /// The same table as record classes see it.
    let views = Mutex<[FieldNames: TableSchema]>([:])
    /// The names that SQL has for the row id, the usual one first: none for views and tables WITHOUT ROWID, nor those of columns.
    package let rowIDNames: [String]
    private let positions: NameIndex

    package enum Kind: String, Sendable, Equatable {
        case table, view, virtual
        /// A common table expression or a sub-request.
        case request
    }

    package struct Column: Sendable, Equatable {
        /// What requests call it: the name in the database, unless a record class gives it another one.
        package var name: String
        package let type: DeclaredType
        package let isNotNull: Bool
        /// SQL text.
        package let defaultSQL: String?
        /// The position in the primary key, from 1.
        package let primaryKeyPosition: Int?
        package let generation: Generation?
        /// Left out by `*`: of virtual tables.
        package let isHidden: Bool
        /// Upper case for those of SQLite; `nil` where SQLite does not report it: for views and for what only requests have.
        package let collation: String?
        /// The name in the database, where a record class has a field of another name over the column.
        var nameInDatabase: String?
        /// Left out of rows, unless it is asked for by name: as a record class has it.
        var isLazy = false

        /// The name in SQL.
        package var sqlName: String { nameInDatabase ?? name }

        package enum Generation: String, Sendable { case virtual, stored }
    }

    package struct ForeignKey: Sendable, Equatable {
        package let table: String
        /// Names in the database, spelled as in this table.
        package let columns: [String]
        /// Spelled as in the other table's schema where that exists.
        package let referencedColumns: [String]
        /// Lower case: "no action", "restrict", "set null", "set default", "cascade".
        package let onDelete: String
        package let onUpdate: String
    }

    init(
        databaseName: String, name: String, kind: Kind, isWithoutRowID: Bool = false, isStrict: Bool = false,
        columns: [Column], primaryKey: [Int] = [], primaryKeyIsRowID: Bool = false, uniqueKeys: [[Int]] = [],
        distinctKeys: [[Int]] = [], foreignKeys: [ForeignKey] = [], indexes: [[Int]] = [], fieldNames: FieldNames? = nil
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

    /// Stands for the row id where a column is expected, in tables that have one.
    package static let rowID = -1

    /// The names that SQL has for the row id of a table with these columns, of which no column can be called the same.
    package static func rowIDNames(besides columns: some Sequence<String>) -> [String] {
        let columns = Set(columns.lazy.map(\.foldedName))
        return ["rowid", "_rowid_", "oid"].filter { !columns.contains($0) }
    }

    /// What is declared for a column, or the row id.
    package func type(ofColumn position: Int) -> DeclaredType {
        position == Self.rowID ? .rowID : columns[position].type
    }

    /// The position of a column, in any case.
    package func column(named name: String) -> Int? {
        positions.position(of: name) ?? rowIDPosition(name)
    }

    /// The position of a column, in any case. Allocates nothing.
    package func column(named name: UnsafeBufferPointer<UInt8>) -> Int? {
        positions.position(of: name) ?? rowIDPosition(String(decoding: name.prefix(8), as: UTF8.self))
    }

    private func rowIDPosition(_ name: String) -> Int? {
        guard !rowIDNames.isEmpty, rowIDNames.contains(name.foldedName) else { return nil }
        return primaryKeyIsRowID ? primaryKey[0] : Self.rowID
    }

    /// Whether a column may hold NULL.
    func mayBeNull(_ position: Int) -> Bool {
        position != Self.rowID && !columns[position].isNotNull && !(primaryKeyIsRowID && primaryKey == [position])
    }

    /// Whether rows may have NULL in their primary key, as SQLite allows: several may have the same key then.
    var keyMayBeNull: Bool { primaryKey.contains(where: mayBeNull) }

    /// How the row id is called, if it has a name.
    package var rowIDName: String? { rowIDNames.first }

    /// Whether the table is spelled like another one, and the same in all that requests depend on.
    func isEqual(to other: TableSchema) -> Bool {
        databaseName == other.databaseName && name == other.name && kind == other.kind
            && isWithoutRowID == other.isWithoutRowID && isStrict == other.isStrict && columns == other.columns
            && primaryKey == other.primaryKey && primaryKeyIsRowID == other.primaryKeyIsRowID
            && uniqueKeys == other.uniqueKeys && distinctKeys == other.distinctKeys && foreignKeys == other.foreignKeys
            && indexes == other.indexes
    }

    /// Whether these columns, in any order, hold a key that no two rows have equal.
    package func containsUniqueKey(_ columns: some Sequence<Int>) -> Bool {
        let given = Set(columns)
        return given.contains(Self.rowID) || distinctKeys.contains { given.isSuperset(of: $0) }
    }
}
