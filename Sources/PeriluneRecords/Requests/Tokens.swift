/// A request as a compact list of bytes, its *shape*: everything in its SQL text except the bound values. SQL text is generated
/// from the tokens alone, so requests of the same shape have the same text.
struct Tokens {
    private(set) var bytes: [UInt8] = []

    init() { bytes.reserveCapacity(120) }

    @inline(__always) mutating func add(_ word: Word) { bytes.append(word.rawValue) }
    @inline(__always) mutating func add(_ mark: Mark) { bytes.append(mark.rawValue) }
    @inline(__always) mutating func add(_ operation: BinaryOperator) { bytes.append(Self.operators + operation.rawValue) }

    /// The first value of tokens that represent a ``BinaryOperator``.
    static let operators: UInt8 = 0x80

    @inline(__always) mutating func add(number: Int) {
        bytes.append(UInt8(truncatingIfNeeded: number))
        bytes.append(UInt8(truncatingIfNeeded: number >> 8))
    }

    @inline(__always) mutating func add(id: UInt32) {
        withUnsafeBytes(of: id.littleEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func add(_ mark: Mark, _ text: some Collection<UInt8>) {
        add(mark)
        add(id: UInt32(text.count))
        bytes.append(contentsOf: text)
    }

    /// Tokens with a fixed SQL text.
    enum Word: UInt8 {
        case select = 1, distinct, star, from, `where`, groupBy, having, orderBy, limit, offset, `as`, comma, open, close
        case and, or, not, minus, tilde, isNull, isNotNull, join, leftJoin, rightJoin, fullJoin, on, descending, nullsFirst,
            nullsLast
        case `in`, notIn, exists, notExists, between, notBetween, like, notLike, glob, notGlob, escape
        case `case`, when, then, `else`, end, cast, collate, filterWhere, countRows
        case with, withRecursive, union, unionAll, intersect, except, values
        case jsonList, jsonExtract, fromJSON, rowNumber, rowNumberName, above, upTo, noRows, one
        case update, set, equals, deleteFrom, returning, selectStarFrom, distinctArgument, `is`
        case selectKeyNumber, asKeys, keyNumber, keyValue
        case joinLast, numberKeyValue, asNumber, ofItsOwn
        case updateAbort, updateFail, updateIgnore, updateReplace, updateRollback
        case insertInto, insertAbort, insertFail, insertIgnore, insertReplace, insertRollback, onConflict, doNothing, doUpdate
        case over, partitionBy, windowOrderBy, aggregateOrderBy
    }

    /// Tokens that are followed by data.
    enum Mark: UInt8 {
        /// A column: the number of its source, and its position in the table.
        case column = 0xC0
        /// A column without its table: the name.
        case bareColumn
        /// A source in FROM with its alias: the number of the source, and the id of its table.
        case source
        /// The alias of a subquery, after its closing parenthesis.
        case sourceAlias
        /// The table that an UPDATE or DELETE writes to, with its alias.
        case target
        case value
        /// A named parameter of a prepared request.
        case parameter
        /// The parent keys of a prefetch, as JSON.
        case keys
        /// SQL text, which is written unchanged. A name is quoted instead.
        case text
        case name
        case function
        /// `excluded.` followed by a name.
        case excluded
        /// The path of an element in a JSON array: the index.
        case element
        /// A marker for a boolean result column, which is not written.
        case boolean
        /// Data that distinguishes plans, but is not written.
        case note
    }
}

extension Tokens.Word {
    var sql: StaticString {
        switch self {
        case .select: "SELECT "
        case .distinct: "DISTINCT "
        case .star: "*"
        case .from: " FROM "
        case .where: " WHERE "
        case .groupBy: " GROUP BY "
        case .having: " HAVING "
        case .orderBy: " ORDER BY "
        case .limit: " LIMIT "
        case .offset: " OFFSET "
        case .as: " AS "
        case .comma: ", "
        case .open: "("
        case .close: ")"
        case .and: " AND "
        case .or: " OR "
        case .not: "NOT "
        case .minus: "-"
        case .tilde: "~"
        case .isNull: " IS NULL"
        case .isNotNull: " IS NOT NULL"
        case .join: " JOIN "
        case .leftJoin: " LEFT JOIN "
        case .rightJoin: " RIGHT JOIN "
        case .fullJoin: " FULL JOIN "
        case .on: " ON "
        case .descending: " DESC"
        case .nullsFirst: " NULLS FIRST"
        case .nullsLast: " NULLS LAST"
        case .in: " IN "
        case .notIn: " NOT IN "
        case .exists: "EXISTS "
        case .notExists: "NOT EXISTS "
        case .between: " BETWEEN "
        case .notBetween: " NOT BETWEEN "
        case .like: " LIKE "
        case .notLike: " NOT LIKE "
        case .glob: " GLOB "
        case .notGlob: " NOT GLOB "
        case .escape: " ESCAPE "
        case .case: "CASE"
        case .when: " WHEN "
        case .then: " THEN "
        case .else: " ELSE "
        case .end: " END"
        case .cast: "CAST("
        case .collate: " COLLATE "
        case .filterWhere: " FILTER (WHERE "
        case .countRows: "COUNT(*)"
        case .with: "WITH "
        case .withRecursive: "WITH RECURSIVE "
        case .union: " UNION "
        case .unionAll: " UNION ALL "
        case .intersect: " INTERSECT "
        case .except: " EXCEPT "
        case .values: "VALUES "
        // The unary + removes the affinity of the value, so that the affinity of the compared column applies.
        case .jsonList: "SELECT +\"value\" FROM json_each("
        case .jsonExtract: "json_extract(\"value\", "
        case .fromJSON: " FROM json_each("
        case .selectKeyNumber: "SELECT \"key\" + 1 AS \"perilune_number\""
        case .asKeys: " AS \"perilune_keys\" ON "
        case .keyValue: "+\"value\""
        // CROSS JOIN makes the joined table the inner loop, whatever order SQLite would prefer.
        case .joinLast: " CROSS JOIN "
        case .numberKeyValue: "CAST(\"value\" AS NUMERIC)"
        case .asNumber: " AS NUMERIC)"
        // SQLite materializes a subquery that has a limit, and creates an automatic index for it.
        case .ofItsOwn: " LIMIT -1"
        case .keyNumber: "\"perilune_number\""
        case .rowNumber: "row_number() OVER (PARTITION BY "
        case .noRows: "0"
        case .one: "1"
        case .rowNumberName: "\"perilune_row\""
        case .above: " > "
        case .upTo: " <= "
        case .update: "UPDATE "
        case .updateAbort: "UPDATE OR ABORT "
        case .updateFail: "UPDATE OR FAIL "
        case .updateIgnore: "UPDATE OR IGNORE "
        case .updateReplace: "UPDATE OR REPLACE "
        case .updateRollback: "UPDATE OR ROLLBACK "
        case .insertInto: "INSERT INTO "
        case .insertAbort: "INSERT OR ABORT INTO "
        case .insertFail: "INSERT OR FAIL INTO "
        case .insertIgnore: "INSERT OR IGNORE INTO "
        case .insertReplace: "INSERT OR REPLACE INTO "
        case .insertRollback: "INSERT OR ROLLBACK INTO "
        case .onConflict: " ON CONFLICT "
        case .doNothing: "DO NOTHING"
        case .doUpdate: "DO UPDATE SET "
        case .over: " OVER ("
        case .partitionBy: "PARTITION BY "
        case .windowOrderBy: "ORDER BY "
        case .aggregateOrderBy: " ORDER BY "
        case .set: " SET "
        case .equals: " = "
        case .is: " IS "
        case .deleteFrom: "DELETE FROM "
        case .returning: " RETURNING "
        case .selectStarFrom: "SELECT * FROM "
        case .distinctArgument: "DISTINCT "
        }
    }
}
