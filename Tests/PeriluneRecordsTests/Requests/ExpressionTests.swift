import Testing

@testable import PeriluneRecords

@Suite struct ExpressionTests {
    let sample: Sample
    let items: Request

    init() throws {
        sample = try Sample(
            """
            CREATE TABLE item (id INTEGER PRIMARY KEY, a INTEGER, b INTEGER, name TEXT, data BLOB, flag BOOLEAN);
            INSERT INTO item VALUES (1, 1, 10, 'one', x'00ff', 1), (2, 2, 20, 'Two', NULL, 0), (3, NULL, 30, 'th_ree', x'', NULL);
            """)
        items = try sample.all("item")
    }

    private func c(_ name: String) throws -> Expression { try items.column(name) }

    /// Returns the SQL of an expression as it appears in WHERE, without the table's name.
    private func sql(_ expression: Expression) throws -> String {
        let sql = try sample.sql(items.select([SelectedColumn(expression, name: "x")]))
        return String(sql.dropFirst("SELECT ".count).dropLast(#" AS "x" FROM "item""#.count)).replacing(#""item"."#, with: "")
    }

    /// Returns the ids of the rows that satisfy a condition.
    private func ids(_ condition: Expression) throws -> [String] {
        try sample.rows(items.filter(condition).select([SelectedColumn(c("id"))]).order([Ordering(c("id"))]))
    }

    /// Returns the value of an expression in the first row.
    private func value(_ expression: Expression) throws -> String {
        try sample.rows(items.select([SelectedColumn(expression, name: "x")]).order([Ordering(c("id"))]), .first)[0]
    }

    // MARK: - Operators

    @Test func `every operator has the right SQL and the right result`() throws {
        let cases: [(BinaryOperator, String, String)] = [
            (.equal, "=", "0"), (.notEqual, "<>", "1"), (.less, "<", "1"), (.lessOrEqual, "<=", "1"), (.greater, ">", "0"),
            (.greaterOrEqual, ">=", "0"), (.is, "IS", "0"), (.isNot, "IS NOT", "1"), (.add, "+", "11"), (.subtract, "-", "-9"),
            (.multiply, "*", "10"), (.divide, "/", "0"), (.modulo, "%", "1"), (.concatenate, "||", "110"), (.bitAnd, "&", "0"),
            (.bitOr, "|", "11"), (.shiftLeft, "<<", "1024"), (.shiftRight, ">>", "0"),
        ]
        for (operation, text, result) in cases {
            let expression = try c("a").binary(operation, c("b"))
            #expect(try sql(expression) == #""a" \#(text) "b""#)
            #expect(try value(expression) == result, "\(operation)")
        }
    }

    @Test func `parentheses are added only where they are needed`() throws {
        let (a, b) = (try c("a"), try c("b"))
        #expect(try sql(a.binary(.add, b).binary(.multiply, a)) == #"("a" + "b") * "a""#)
        #expect(try sql(a.binary(.add, b.binary(.multiply, a))) == #""a" + "b" * "a""#)
        #expect(try sql(a.binary(.subtract, b.binary(.subtract, a))) == #""a" - ("b" - "a")"#)
        #expect(try sql(a.binary(.subtract, b).binary(.subtract, a)) == #""a" - "b" - "a""#)
        #expect(try sql(a.equal(b).equal(a)) == #"("a" = "b") = "a""#)
        #expect(try sql(a.equal(b).unary(.not)) == #"NOT ("a" = "b")"#)
        #expect(try sql(a.equal(b).and(b.equal(a)).or(a.unary(.isNull))) == #""a" = "b" AND "b" = "a" OR "a" IS NULL"#)
        #expect(try sql(a.equal(b).or(b.equal(a)).and(a.unary(.isNull))) == #"("a" = "b" OR "b" = "a") AND "a" IS NULL"#)
        #expect(try sql(a.unary(.negate).unary(.negate)) == #"-(-"a")"#)
        #expect(try sql(a.binary(.concatenate, b).collating("nocase")) == #"("a" || "b") COLLATE "nocase""#)
        #expect(try sql(a.unary(.not).equal(b)) == #"(NOT "a") = "b""#)
        #expect(try sql(a.between(b, a.equal(b))) == #""a" BETWEEN "b" AND ("a" = "b")"#)
        #expect(try sql(a.unary(.isNull).binary(.add, b)) == #"("a" IS NULL) + "b""#)
    }

    @Test func `a comparison with null becomes IS NULL`() throws {
        let a = try c("a")
        #expect(try sql(a.equal(.value(.null))) == #""a" IS NULL"#)
        #expect(try sql(a.binary(.notEqual, .value(.null))) == #""a" IS NOT NULL"#)
        #expect(try sql(.value(.null).equal(a)) == #""a" IS NULL"#)
        #expect(try ids(a.equal(.value(.null))) == ["3"])
        #expect(
            requestError { _ = try a.binary(.less, .value(.null)) }?.message
                == "a comparison with null is never true; use isNull or isNotNull")
        #expect(requestError { _ = try a.between(.value(.null), a) }?.kind == "argument")
    }

    @Test func `negations use SQL's own forms`() throws {
        let a = try c("a")
        #expect(try sql(a.unary(.isNull).unary(.not)) == #""a" IS NOT NULL"#)
        #expect(try sql(a.isIn(values: [.integer(1)]).unary(.not)) == #""a" NOT IN (?)"#)
        #expect(try sql(a.isIn(values: [.integer(1)]).unary(.not).unary(.not)) == #""a" IN (?)"#)
        #expect(try sql(a.between(a, a).unary(.not)) == #""a" NOT BETWEEN "a" AND "a""#)
        #expect(try sql(a.like(.glob, .text("x")).unary(.not)) == #""a" NOT GLOB ?"#)
        #expect(requestError { _ = try Expression.value(.boolean(true)).unary(.not) }?.kind == "argument")
    }

    @Test func `patterns are written as LIKE and GLOB`() throws {
        let name = try c("name")
        #expect(try ids(name.like(.like, .text("T%"))) == ["2", "3"])
        #expect(try ids(name.like(.like, .text("%!_%"), escape: .text("!"))) == ["3"])
        #expect(try ids(name.like(.glob, .text("T*"))) == ["2"])
        #expect(try sql(name.like(.like, .text("a"), escape: .text("\\")).unary(.not)) == #""name" NOT LIKE ? ESCAPE ?"#)
        #expect(requestError { _ = try name.like(.like, .text("a"), escape: .text("ab")) }?.kind == "argument")
        #expect(requestError { _ = try name.like(.glob, .text("a"), escape: .text("b")) }?.kind == "argument")
        #expect(requestError { _ = try name.like(.like, .value(.null)) }?.kind == "argument")
    }

    // MARK: - Lists

    @Test func `lists can be empty, short, or made of expressions, but cannot contain null`() throws {
        let a = try c("a")
        #expect(try ids(a.isIn(values: [])) == [])
        #expect(try ids(a.isIn(values: []).unary(.not)) == ["1", "2", "3"])
        #expect(try ids(a.isIn(values: [.integer(1), .integer(5)])) == ["1"])
        #expect(try sql(a.isIn(members: [c("b"), .integer(1)])) == #""a" IN ("b", ?)"#)
        #expect(
            requestError { _ = try a.isIn(values: [.integer(1), .null]) }?.message
                == "a list of values cannot contain null, which never compares equal; use `column:is_in(list) | column:is_null()`"
        )
        #expect(requestError { _ = try a.isIn(values: [.real(.nan)]) }?.message.contains("NaN") == true)
    }

    @Test func `long lists of integers and texts become one parameter and are compared exactly`() throws {
        let numbers: [Int64] = [.max, .min, 9_007_199_254_740_993, 0, -1] + (100..<200)
        let texts = ["", "\"", "\\", "\u{1}", "é\u{1F600}", "1", "null", "a,b]"] + (0..<100).map { "t\($0)" }
        try sample.database.write { db in
            try db.execute(sql: "CREATE TABLE v (x, n INTEGER)")
            for number in numbers { try db.execute(sql: "INSERT INTO v VALUES (?, 1)", arguments: [number]) }
            for text in texts { try db.execute(sql: "INSERT INTO v VALUES (?, 2)", arguments: [text]) }
            try db.execute(sql: "INSERT INTO v VALUES (9007199254740992, 3), (x'31', 3), (1.0, 3)")
        }
        let v = try sample.all("v")
        let list = try v.column("x").isIn(values: numbers.map { .integer($0) } + texts.map { .text($0) })
        let compiled = try v.filter(list).compiled(by: sample.compiler)
        #expect(compiled.plan.sql == #"SELECT * FROM "v" WHERE "v"."x" IN (SELECT +"value" FROM json_each(?))"#)
        #expect(try sample.rows(v.filter(list), .count) == ["\(numbers.count + texts.count)"])
        #expect(try sample.rows(v.filter(list).filter(v.column("n").equal(.integer(3))), .count) == ["0"])
        #expect(try sample.rows(v.filter(list.unary(.not)), .count) == ["3"])
    }

    @Test func `lists can hold a hundred thousand values of any kind`() throws {
        let (a, b) = (try c("a"), try c("b"))
        let integers = (0..<100_000).map { Value.integer($0) }
        #expect(try ids(a.isIn(values: integers)) == ["1", "2"])
        let floats = (0..<100_000).map { Value.real(Double($0) + 0.1) } + [.real(20)]
        #expect(try ids(b.isIn(values: floats)) == ["2"])
        #expect(try ids(b.isIn(values: floats).unary(.not)) == ["1", "3"])
        let blobs = (0..<100_000).map { Value.blob([UInt8($0 & 255), UInt8($0 >> 8 & 255)]) }
        #expect(try ids(c("data").isIn(values: blobs)) == ["1"])
        #expect(try ids(b.isIn(values: integers.prefix(50) + floats.prefix(5) + [.real(20)])) == ["1", "2", "3"])
        #expect(try ids(b.isIn(values: integers.prefix(15) + floats.suffix(5)).unary(.not)) == ["3"])
        #expect(requestError { _ = try b.isIn(values: floats + floats) }?.message.contains("at most 200000") == true)
    }

    // MARK: - Depth

    @Test func `thousands of conditions form one chain`() throws {
        let a = try c("a")
        var or = try a.equal(.integer(-1))
        for index in 0..<2_000 { or = try or.or(a.equal(.integer(Int64(index + 2)))) }
        #expect(try ids(or) == ["2"])
        var and = try a.equal(.integer(1))
        for index in 0..<2_000 { and = try a.binary(.notEqual, .integer(Int64(-index))).and(and) }
        #expect(try ids(and) == ["1"])
        #expect(try ids(.combined(isAnd: false, [and, or])) == ["1", "2"])
        #expect(requestError { _ = try Expression.combined(isAnd: true, []) }?.kind == "argument")
    }

    @Test func `very long chains are built and released without recursion`() throws {
        let a = try c("a").equal(.integer(1))
        var left = a
        var right = a
        for _ in 0..<300_000 {
            left = try left.and(a)
            right = try a.or(right)
        }
        #expect(left.members(isAnd: true).count == 300_001)
        #expect(right.members(isAnd: false).count == 300_001)
    }

    @Test func `long chains of one operator are allowed, and deep nesting is an error before SQLite's limit`() throws {
        let a = try c("a")
        var sum = a
        for _ in 0..<500 { sum = try sum.binary(.add, .integer(1)) }
        #expect(try value(sum) == "501")
        let error = requestError {
            for _ in 0..<1000 { sum = try sum.binary(.add, .integer(1)) }
        }
        #expect(error?.kind == "too_deep")
        let shapes: [(Expression) throws -> Expression] = [
            { try a.binary(.subtract, $0.binary(.add, a)) }, { try .function("abs", [$0]) }, { try .function("max", [a, $0]) },
            { try $0.equal(a) }, { try $0.equal(a).unary(.not) }, { try .choice([(a.equal(a), $0)]) },
            { try .choice(base: $0, [(a, a)]) }, { try $0.cast(as: "TEXT") }, { try $0.collating("binary") },
            { try $0.unary(.negate) }, { try a.isIn(members: [$0, a]) }, { try a.between(a, $0) }, { try a.like(.like, $0) },
            { try .sql("(? + 1)", .positional([$0])) }, { try .request(items.select([SelectedColumn($0, name: "x")]).limit(1)) },
            { try .exists(items.filter($0.equal(a))) }, { try a.isIn(items.filter($0.equal(a)).select([SelectedColumn(a)])) },
            { try $0.equal(a).or(a.equal(a)).and(a.equal(a)) }, { try $0.binary(.concatenate, a.binary(.add, $0)) },
            { try a.binary(.bitAnd, $0) },
        ]
        for (index, shape) in shapes.enumerated() {
            var expression = a
            let error = requestError {
                for _ in 0..<2000 {
                    expression = try shape(expression)
                }
            }
            #expect(error?.kind == "too_deep", "shape \(index)")
            // SQLite can compile every accepted expression.
            #expect(try sample.rows(items.select([SelectedColumn(expression, name: "x")]), .first).count == 1, "shape \(index)")
        }
    }

    // MARK: - Functions

    @Test func `expressions can call SQLite's functions, other functions and aggregates`() throws {
        let name = try c("name")
        #expect(try sql(.function("lower", [name])) == #"LOWER("name")"#)
        #expect(try sql(.function("replace", [name, .text("o"), .text("0")])) == #""replace"("name", ?, ?)"#)
        #expect(try value(.function("replace", [name, .text("o"), .text("0")])) == "0ne")
        #expect(try value(.function("json_extract", [.text("{\"a\":[1,2]}"), .text("$.a[1]")])) == "2")
        #expect(try value(Expression.text("{\"a\":5}").binary(.jsonText, .text("a"))) == "5")
        #expect(try value(Expression.text("{\"a\":[5]}").binary(.jsonValue, .text("$.a"))) == "[5]")
        #expect(try value(.function("strftime", [.text("%Y"), .text("2020-05-01")])) == "2020")
        #expect(try value(.countOfRows(filter: c("a").unary(.isNotNull))) == "2")
        #expect(try value(c("b").aggregate("sum", filter: c("a").equal(.integer(1)))) == "10")
        #expect(try value(c("b").aggregate("count", isDistinct: true)) == "3")
        #expect(try value(c("b").aggregate("avg").filteringAggregate(c("a").unary(.isNotNull))) == "15.0")
        #expect(
            try sql(c("b").aggregate("sum", isDistinct: true, filter: name.equal(.text("x"))))
                == #"SUM(DISTINCT "b") FILTER (WHERE "name" = ?)"#)
        #expect(requestError { _ = try Expression.function("a b", []) }?.kind == "argument")
        #expect(requestError { _ = try Expression.function("x\"(); DROP", []) }?.kind == "argument")
        #expect(requestError { _ = try Expression.function("lower", [name], isDistinct: true) }?.kind == "argument")
        #expect(requestError { _ = try name.aggregate("max").aggregate("max") }?.kind == "argument")
        #expect(requestError { _ = try Expression.function("f", Array(repeating: name, count: 128)) }?.kind == "argument")
    }

    @Test func `CASE, CAST and COLLATE expressions can be built`() throws {
        let a = try c("a")
        #expect(
            try sql(.choice([(a.equal(.integer(1)), .text("one"))], otherwise: .text("more")))
                == #"CASE WHEN "a" = ? THEN ? ELSE ? END"#)
        #expect(try value(.choice(base: a, [(.integer(1), .text("one"))])) == "one")
        #expect(try value(c("name").cast(as: "INTEGER")) == "0")
        #expect(try sql(a.cast(as: "DECIMAL\"")) == #"CAST("a" AS "DECIMAL""")"#)
        #expect(try ids(c("name").equal(.text("two").collating("nocase"))) == ["2"])
        #expect(requestError { _ = try Expression.choice([]) }?.kind == "argument")
    }

    @Test func `boolean expressions are recognized`() throws {
        let a = try c("a")
        #expect(try c("flag").isBoolean && !a.isBoolean)
        #expect(try a.equal(a).isBoolean && a.unary(.isNull).isBoolean && a.equal(a).unary(.not).isBoolean)
        #expect(try Expression.exists(items).isBoolean && a.isIn(items.select([SelectedColumn(a)])).isBoolean)
        #expect(try Expression.choice([(a.equal(a), a.equal(a))]).isBoolean)
        #expect(try !Expression.choice([(a.equal(a), a)]).isBoolean)
    }

    // MARK: - SQL text

    @Test func `SQL text accepts values and expressions, by position and by name`() throws {
        #expect(try ids(.sql("name = ? OR a = ?2", .positional([.text("one"), .integer(2)]))) == ["1", "2"])
        #expect(try ids(.sql("a = ?1 OR b = ?1 * 30", .positional([.integer(1)]))) == ["1", "3"])
        #expect(try ids(.sql("a = :x OR b = $y + @x", .named(["x": .integer(1), "y": c("b")]))) == ["1"])
        #expect(try sql(.sql("? > 5", .positional([c("a").binary(.add, c("b"))]))) == #"(("a" + "b") > 5)"#)
        #expect(try ids(.sql("name = 'what?' OR name = \"name\" -- ? :x\n AND [a] = 1 /* ? */ OR `b` = 20")) == ["1", "2"])
    }

    @Test func `two SQL texts may use the same names`() throws {
        let both = try Expression.sql("a = :x", .named(["x": .integer(1)])).or(.sql("a = :x", .named(["x": .integer(2)])))
        #expect(try ids(both) == ["1", "2"])
    }

    @Test func `SQL text with mismatched values or unbalanced syntax is an error`() throws {
        let wrong: [(String, SQLFragment.Arguments, String)] = [
            ("a = ?", .none, "the SQL text expects 1 value, got 0: `a = ?`"),
            ("a = 1", .positional([try c("a")]), "the SQL text expects 0 values, got 1: `a = 1`"),
            ("a = :x", .none, "the SQL text has `:x`, but its arguments have no names: `a = :x`"),
            ("a = :x", .named([:]), "missing value for `:x` in the SQL text `a = :x`"),
            (
                "a = :x", .named(["x": try c("a"), "y": try c("a")]),
                "unused value for `:y`, which is not in the SQL text `a = :x`"
            ),
            ("a = ?", .named(["x": try c("a")]), "unused value for `:x`, which is not in the SQL text `a = ?`"),
            ("a = ?", .named([:]), "the SQL text has `?`, but its arguments are named: `a = ?`"),
            ("a) OR (1", .none, "SQL text contains `)` without `(`: `a) OR (1`"),
            ("(a", .none, "SQL text contains `(` without `)`: `(a`"),
            ("a; DROP TABLE item", .none, "SQL text contains `;`: it must be one expression: `a; DROP TABLE item`"),
            ("a = 'x", .none, "SQL text contains an unterminated quote: `a = 'x`"),
            ("a /* x", .none, "SQL text contains an unterminated comment: `a /* x`"),
            ("  -- x", .none, "SQL text is empty"),
            ("?0", .none, "SQL text contains `?0`: placeholders count from 1: `?0`"),
            ("a = :", .none, "SQL text contains `:` without a name: `a = :`"),
            ("a\0", .none, "SQL text must be valid UTF-8 and without NUL bytes"),
        ]
        for (text, arguments, message) in wrong {
            #expect(requestError { _ = try Expression.sql(text, arguments) }?.message == message)
        }
        #expect(requestError { _ = try Expression.sql([0x61, 0xFF]) }?.kind == "argument")
    }

    // MARK: - Inline SQL

    @Test func `expressions in table definitions contain literal values and unqualified columns`() throws {
        let condition = try c("a").binary(.greater, .integer(-5)).and(c("name").binary(.notEqual, .text("it's")))
            .and(c("data").binary(.notEqual, .value(.blob([0, 255])))).and(c("b").binary(.less, .value(.real(0.1))))
        #expect(
            try sample.compiler.inlineSQL(condition)
                == #""a" > (-5) AND "name" <> 'it''s' AND "data" <> x'00ff' AND "b" < 0.1"#)
        #expect(
            try sample.compiler.inlineSQL(.sql("length(?) > ?", .positional([c("name"), .integer(3)])))
                == #"(length("name") > 3)"#)
        #expect(requestError { _ = try sample.compiler.inlineSQL(.parameter("x")) }?.kind == "argument")
    }

    @Test func `expressions in upserts can use columns of the table and of the excluded row`() throws {
        let compiled = try sample.compiler.sql(
            of: c("a").binary(.add, .excluded(1, of: items.table)).binary(.add, .integer(1)), in: items)
        #expect(compiled.plan.sql == #""item"."a" + "excluded"."a" + ?"#)
        #expect(compiled.values == [.integer(1)])
    }

    @Test func `expressions refuse values that SQLite cannot store`() throws {
        #expect(requestError { _ = try Expression.value(.real(.nan)) }?.message.contains("NaN") == true)
        #expect(requestError { _ = try Expression.parameter("") }?.kind == "argument")
        #expect(try value(.value(.real(.infinity))) == "inf")
    }
}
