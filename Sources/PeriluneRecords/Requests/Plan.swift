/// The compiled form of a request: SQL, parameters, and the structure of the result columns. Requests of the same shape share a
/// plan.
package final class Plan: Sendable {
    package let sql: String
    /// The source of each parameter in the SQL, in order.
    package let slots: [Slot]
    /// The structure of the result rows; `nil` for statements that do not fetch rows, such as counts and updates.
    package let root: Segment?
    /// The result columns that contain booleans without having a boolean declared type, such as conditions.
    package let booleanColumns: [Int]
    /// The result columns that identify the parent of each prefetched row.
    package let keyColumns: [Int]
    /// Whether ``keyColumns`` is a single column with the number of the parent's key, starting at 1.
    package let numbersKeys: Bool

    package enum Slot: Sendable, Equatable {
        /// The value at this position in ``CompiledRequest/values``.
        case value(Int)
        /// A named parameter, which is bound when a prepared request runs.
        case parameter(String)
        /// The parent keys of a prefetch, as a JSON array of values or of arrays.
        case keys
    }

    /// The result columns that form one row of a table. Rows of included associations are child segments.
    package final class Segment: Sendable {
        /// The name of the field in the parent row; empty for the root.
        package let name: String
        package let table: TableSchema
        /// The tag of the association that leads to the row.
        package let tag: Int
        /// The number of the segment in the plan, starting at 0. Parents come before their children.
        package let index: Int
        /// The result columns that belong to the segment itself.
        package let columns: Range<Int>
        /// The names of these columns; `nil` means the name that SQLite returns.
        package let names: [String?]
        /// Whether the segment contains all columns of a table, in which case its row becomes a record.
        package let isWhole: Bool
        /// The additional columns, with their names.
        package let extras: [(name: String, column: Int)]
        /// Whether the row may be absent, which a NULL in the result column ``presence`` indicates.
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
            // Rows of set operations over selected columns do not belong to a table.
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

/// A compiled request with its values, ready to run.
package final class CompiledRequest: Sendable {
    package let plan: Plan
    /// The values for `.value` slots.
    package let values: [Value]
    /// The prefetches of associated rows, which run after this request.
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

/// A request that prefetches the rows associated with already fetched rows.
///
/// Run it once for all parent rows. First collect the ``parentKeyColumns`` of each row, except rows with a NULL in them. If
/// ``canBindAsJSON(_:)`` accepts all values, run ``child`` with the keys in its `.keys` slots, otherwise the request that
/// ``request(forKeys:by:)`` returns. The columns `plan.keyColumns` of a fetched row identify its parent: by the number of the
/// key if the plan `numbersKeys`, otherwise by a key that is equal in its ``keyForms``.
package final class CompiledPrefetch: Sendable {
    /// The name of the field that receives the rows.
    package let name: String
    package let isPlural: Bool
    package let tag: Int
    /// The ``Plan/Segment/index`` of the parent rows.
    package let segmentIndex: Int
    /// The columns of the key in the parent's result.
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

    /// Returns whether a key value is unchanged after conversion to JSON and back, which is true for integers and texts.
    package static func canBindAsJSON(_ value: Value) -> Bool { ValueList.isCarriedByJSON(value) }

    /// Returns the JSON array for `.keys` slots. All values must satisfy ``canBindAsJSON(_:)``.
    package static func json(_ keys: [[Value]]) -> [UInt8] {
        keys.first?.count == 1 ? ValueList.jsonArray(keys.lazy.map { $0[0] }) : ValueList.jsonArray(rows: keys)
    }

    package var keyForms: [Association.KeyForm]? { association.keyForms }

    /// Returns the positions in a key that use the given comparison. In `asNumber` positions, numbers and other values need
    /// separate statements; ``child`` is the statement for numbers. A key with a number in a `textsOnly` position has no
    /// associated rows.
    package func columns(compared comparison: Association.KeyComparison) -> [Int] {
        let comparisons = association.keyComparisons.ofOrigin
        return comparisons.indices.filter { comparisons[$0] == comparison }
    }

    /// Returns the request for keys with arbitrary values, each bound as separate parameters.
    package func request(forKeys keys: [[Value]], by compiler: RequestCompiler) throws -> CompiledRequest {
        try compiler.compile(association, keyForms == nil ? .numberedKeys(keys) : .keys(keys))
    }
}
