/// What a request compiles to: SQL, what to bind, and what becomes of the columns. Shared by all requests of one shape.
package final class Plan: Sendable {
    package let sql: String
    /// What each parameter of the SQL is given, in order.
    package let slots: [Slot]
    /// What becomes of the columns; `nil` for statements that fetch no rows of a request (counts, updates).
    package let root: Segment?
    /// The columns that are true or false beyond what their declared types say: conditions.
    package let booleanColumns: [Int]
    /// For rows that are fetched for others: the columns with the key of the row that each belongs to.
    package let keyColumns: [Int]
    /// Whether that is one column with the number of the key, from 1.
    package let numbersKeys: Bool

    package enum Slot: Sendable, Equatable {
        /// The value at that position of ``CompiledRequest/values``.
        case value(Int)
        /// Given by name when a prepared request runs.
        case parameter(String)
        /// The keys of the rows for which others are fetched: a JSON array of values, or of arrays of values.
        case keys
    }

    /// The columns of one row of a table; rows of included associations are segments inside it.
    package final class Segment: Sendable {
        /// The field of the row around; empty for the row itself.
        package let name: String
        package let table: TableSchema
        /// That of the association.
        package let tag: Int
        /// Counts all segments of the plan, from 0: each before those inside it.
        package let index: Int
        /// Where its own columns are in the result.
        package let columns: Range<Int>
        /// What they are called; `nil` as SQLite calls it.
        package let names: [String?]
        /// Whether they are all columns of the table, so that the row is a record.
        package let isWhole: Bool
        /// Columns that were added, by name.
        package let extras: [(name: String, column: Int)]
        /// Whether there may be no row. There is none where the column ``presence`` is NULL.
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
            // Rows of several requests that selected columns look like no table.
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
    /// What the slots `.value` bind.
    package let values: [Value]
    /// Further requests for the rows that come with those of this one.
    package let prefetches: [CompiledPrefetch]
    /// The schema it was compiled for.
    let schema: DatabaseSchema

    init(plan: Plan, values: [Value], prefetches: [CompiledPrefetch], schema: DatabaseSchema) {
        self.plan = plan
        self.values = values
        self.prefetches = prefetches
        self.schema = schema
    }
}

/// A request for the rows that are associated with rows that have been fetched.
///
/// Run it once for all rows: collect the values of ``parentKeyColumns`` of each row (leaving out those with a NULL), run ``child``
/// with them in its slots `.keys` if ``canBindAsJSON(_:)``, else the request of ``request(forKeys:by:)``. The columns
/// `plan.keyColumns` say to which key a row that comes belongs: by its number where the plan `numbersKeys`, else by a key that is
/// equal to it by ``keyForms``.
package final class CompiledPrefetch: Sendable {
    /// The field.
    package let name: String
    package let isPlural: Bool
    package let tag: Int
    /// The ``Plan/Segment/index`` of the rows that they belong to.
    package let segmentIndex: Int
    /// Where these have their keys, in the columns of the parent's result.
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

    /// Whether a key value goes through JSON unchanged: integers and texts do.
    package static func canBindAsJSON(_ value: Value) -> Bool { ValueList.isCarriedByJSON(value) }

    /// The JSON array for the slot `.keys`. All values can be bound as JSON.
    package static func json(_ keys: [[Value]]) -> [UInt8] {
        keys.first?.count == 1 ? ValueList.jsonArray(keys.lazy.map { $0[0] }) : ValueList.jsonArray(rows: keys)
    }

    package var keyForms: [Association.KeyForm]? { association.keyForms }

    /// Whether keys that are numbers and keys that are texts need statements of their own. ``child`` is for numbers then.
    package var tellsTexts: Bool { association.comparesTextsAsNumbers || association.comparesNumbersWithAnything }

    /// The request for any keys, of which there is at least one, each bound by itself.
    package func request(forKeys keys: [[Value]], by compiler: RequestCompiler) throws -> CompiledRequest {
        try compiler.compile(association, keyForms == nil ? .numberedKeys(keys) : .keys(keys))
    }
}
