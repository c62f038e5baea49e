/// The compiled form of a request: SQL, parameters, and the meaning of the result columns. All requests of one shape share it.
package final class Plan: Sendable {
    package let sql: String
    /// The source of each parameter in the SQL, in order.
    package let slots: [Slot]
    /// The meaning of the columns; `nil` for statements that fetch no rows (counts, updates).
    package let root: Segment?
    /// The columns that contain booleans although their declared types do not show this: conditions.
    package let booleanColumns: [Int]
    /// The columns with the key of the row that each prefetched row belongs to.
    package let keyColumns: [Int]
    /// Whether ``keyColumns`` is one column with the number of the key, from 1.
    package let numbersKeys: Bool

    package enum Slot: Sendable, Equatable {
        /// The value at a position of ``CompiledRequest/values``.
        case value(Int)
        /// The value of a named parameter, given when a prepared request runs.
        case parameter(String)
        /// The keys of the rows whose associated rows are fetched: a JSON array of values or of arrays.
        case keys
    }

    /// The columns of one row of a table. Rows of included associations are inner segments.
    package final class Segment: Sendable {
        /// The name of the field in the surrounding row; empty for the row itself.
        package let name: String
        package let table: TableSchema
        /// The tag of the association.
        package let tag: Int
        /// The number of the segment in the plan, from 0. Outer segments come before inner ones.
        package let index: Int
        /// The range of the segment's own columns in the result.
        package let columns: Range<Int>
        /// The names of the columns; `nil` means the name that SQLite returns.
        package let names: [String?]
        /// Whether the segment has all columns of the table, so that the row is a record.
        package let isWhole: Bool
        /// The additional columns, with their names.
        package let extras: [(name: String, column: Int)]
        /// Whether the row may be missing, which a NULL in the column ``presence`` indicates.
        package let isOptional: Bool
        package let presence: Int?
        package let children: [Segment]

        init(_ builder: SegmentBuilder, index: inout Int) {
            name = builder.name
            table = builder.table
            tag = builder.tag
            self.index = index
            columns = builder.start..<builder.start + builder.names.count
            names = builder.names
            // Rows of combined requests with selected columns do not belong to a table.
            isWhole = builder.request.parts.values.selection == nil && builder.table.kind != .request
            extras = builder.extras.map { ($0.name ?? "", $0.column) }
            isOptional = builder.isOptional
            presence = builder.presence
            index += 1
            var next = index
            children = builder.children.map { Segment($0, index: &next) }
            index = next
        }
    }

    init(
        sql: String, slots: [Slot], root: Segment?, booleanColumns: [Int], keyColumns: [Int], numbersKeys: Bool
    ) {
        self.sql = sql
        self.slots = slots
        self.root = root
        self.booleanColumns = booleanColumns
        self.keyColumns = keyColumns
        self.numbersKeys = numbersKeys
    }
}

/// A request that is ready to run.
package final class CompiledRequest: Sendable {
    package let plan: Plan
    /// The values for the slots `.value`.
    package let values: [Value]
    /// The further requests for rows that are fetched with the rows of this one.
    package let prefetches: [CompiledPrefetch]
    /// The schema for which the request was compiled.
    let schema: DatabaseSchema

    init(plan: Plan, values: [Value], prefetches: [CompiledPrefetch], schema: DatabaseSchema) {
        self.plan = plan
        self.values = values
        self.prefetches = prefetches
        self.schema = schema
    }
}

/// A request for the rows associated with fetched rows.
///
/// Run it once for all rows: collect the values of ``parentKeyColumns`` of each row (leaving out those with NULL) and run
/// ``child`` with them in its slots `.keys` if ``canBindAsJSON(_:)``, otherwise the request of ``request(forKeys:by:)``. The
/// columns `plan.keyColumns` identify the key of each row: by its number if the plan `numbersKeys`, otherwise by a key that is
/// equal by ``keyForms``.
package final class CompiledPrefetch: Sendable {
    /// The name of the field with the rows.
    package let name: String
    package let isPlural: Bool
    package let tag: Int
    /// The ``Plan/Segment/index`` of the rows that the fetched rows belong to.
    package let segmentIndex: Int
    /// The columns of the parent rows' keys in the parent's result.
    package let parentKeyColumns: [Int]
    package let child: CompiledRequest
    private let association: Association

    init(_ association: Association, segmentIndex: Int, parentKeyColumns: [Int], child: CompiledRequest) {
        name = association.name
        isPlural = association.isPlural
        tag = association.tag
        self.segmentIndex = segmentIndex
        self.parentKeyColumns = parentKeyColumns
        self.child = child
        self.association = association
    }

    /// Returns whether JSON carries a key value unchanged, which is true for integers and texts.
    package static func canBindAsJSON(_ value: Value) -> Bool { ValueList.isCarriedByJSON(value) }

    /// Returns the JSON array for the slot `.keys`. JSON must carry all values unchanged.
    package static func json(_ keys: [[Value]]) -> [UInt8] {
        keys.first?.count == 1 ? ValueList.jsonArray(keys.lazy.map { $0[0] }) : ValueList.jsonArray(rows: keys)
    }

    package var keyForms: [Association.KeyForm]? { association.keyForms }

    /// Returns the columns of a key whose values are compared in a certain way. Numbers and other values of a column that is
    /// compared `asNumber` need separate statements; ``child`` is the statement for numbers. Keys with numbers in `textsOnly`
    /// columns have no rows.
    package func columns(compared comparison: Association.KeyComparison) -> [Int] {
        let comparisons = association.keyComparisons.ofOrigin
        return comparisons.indices.filter { comparisons[$0] == comparison }
    }

    /// Returns the request for one or more keys of any values, each with its own parameters.
    package func request(forKeys keys: [[Value]], by compiler: RequestCompiler) throws -> CompiledRequest {
        try compiler.compile(association, keyForms == nil ? .numberedKeys(keys) : .keys(keys))
    }
}
