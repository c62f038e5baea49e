import Testing

@testable import PeriluneRecords

@Suite struct RequestTests {
    let sample: Sample
    let authors: Request
    let books: Request

    init() throws {
        sample = try Sample()
        authors = try sample.all("author")
        books = try sample.all("book")
    }

    private func column(_ name: String) throws -> Expression { try authors.column(name) }

    @Test func `a filter, an order and a limit become one statement with bound values`() throws {
        let request = try authors.filter(column("country").equal(.text("FR")))
            .order([Ordering(column("born"), isDescending: true)]).limit(10)
        let compiled = try request.compiled(by: sample.compiler)
        #expect(
            compiled.plan.sql == """
                SELECT * FROM "author" WHERE "author"."country" = ? ORDER BY "author"."born" DESC LIMIT ?
                """)
        #expect(compiled.plan.slots == [.value(0), .value(1)])
        #expect(compiled.values == [.text("FR"), .integer(10)])
        #expect(try sample.rows(request) == ["4|Ernaux|FR|1940|1", "2|Duras|FR|1914|0"])
        #expect(compiled.plan.root?.table === authors.table)
        #expect(compiled.plan.root?.isWhole == true)
        #expect(compiled.plan.root?.names == ["id", "name", "country", "born", "alive"])
    }

    @Test func `requests of the same shape share a plan but not their values`() throws {
        let a = try authors.filter(column("name").equal(.text("a"))).compiled(by: sample.compiler)
        let b = try authors.filter(column("name").equal(.text("b"))).compiled(by: sample.compiler)
        let c = try authors.filter(column("country").equal(.text("b"))).compiled(by: sample.compiler)
        #expect(a.plan === b.plan)
        #expect(a.plan !== c.plan)
        #expect(b.values == [.text("b")])
    }

    @Test func `a request caches its compiled form`() throws {
        let request = try authors.limit(1)
        #expect(try request.compiled(by: sample.compiler) === request.compiled(by: sample.compiler))
    }

    @Test func `deriving a request does not change the original`() throws {
        let before = try sample.sql(authors)
        _ = try authors.filter(column("id").equal(.integer(1))).limit(1).distinct().order([Ordering(column("id"))])
        #expect(try sample.sql(authors) == before)
    }

    @Test func `filters are combined with AND and keep their parentheses`() throws {
        let or = try column("id").equal(.integer(1)).or(column("id").equal(.integer(2)))
        let request = try authors.filter(or).filter(
            column("country").unary(.isNull).or(column("born").binary(.less, .integer(1900))))
        #expect(
            try sample.sql(request) == """
                SELECT * FROM "author" WHERE ("author"."id" = ? OR "author"."id" = ?) \
                AND ("author"."country" IS NULL OR "author"."born" < ?)
                """)
        #expect(try sample.rows(request) == ["1|Melville|US|1819|0"])
    }

    @Test func `names are quoted, and quotes inside them are doubled`() throws {
        let odd = try sample.all("odd \"name\"")
        let request = try odd.filter(odd.column("A \"B\"").equal(.integer(1))).order([Ordering(odd.column("select"))])
        #expect(
            try sample.sql(request) == #"""
                SELECT * FROM "odd ""name""" WHERE "odd ""name"""."a ""b""" = ? ORDER BY "odd ""name"""."select"
                """#)
        #expect(try sample.rows(request) == [])
    }

    @Test func `requests for no row, the first row, the count and the existence are compiled`() throws {
        #expect(try sample.rows(authors.none()) == [])
        #expect(try sample.sql(authors, .first) == #"SELECT * FROM "author" LIMIT ?"#)
        #expect(try authors.limit(0).compiled(by: sample.compiler, as: .first).values == [.integer(0)])
        #expect(try sample.rows(authors, .count) == ["4"])
        #expect(try sample.sql(authors.order([Ordering(column("id"))]), .count) == #"SELECT COUNT(*) FROM "author""#)
        #expect(try sample.rows(authors.limit(3, offset: 2), .count) == ["2"])
        #expect(try sample.rows(authors.none(), .exists) == ["0"])
        #expect(try sample.rows(authors, .exists) == ["1"])
        #expect(try authors.compiled(by: sample.compiler, as: .exists).plan.booleanColumns == [0])
        #expect(try sample.rows(authors.limit(nil, offset: 3)) == ["4|Ernaux|FR|1940|1"])
    }

    @Test func `counts respect distinct rows, groups and limits`() throws {
        let countries = try authors.select([SelectedColumn(column("country"))])
        #expect(try sample.rows(countries.distinct(), .count) == ["3"])
        #expect(try sample.rows(countries.group([column("country")]), .count) == ["3"])
        #expect(try sample.rows(countries, .count) == ["4"])
        let having = try countries.group([column("country")]).having(.countOfRows().binary(.greater, .integer(1)))
        #expect(try sample.rows(having) == ["FR"])
        #expect(try sample.rows(having, .count) == ["1"])
    }

    @Test func `a request can be aggregated`() throws {
        let born = try column("born")
        #expect(try sample.rows(authors, .aggregate("MIN", born, isDistinct: false)) == ["1819"])
        #expect(try sample.rows(authors.order([Ordering(born)]).limit(2), .aggregate("MAX", born, isDistinct: false)) == ["1819"])
        #expect(try sample.rows(authors, .aggregate("COUNT", column("country"), isDistinct: true)) == ["2"])
        let error = requestError {
            _ = try authors.distinct().compiled(by: sample.compiler, as: .aggregate("SUM", born, isDistinct: false))
        }
        #expect(error?.message.contains("distinct") == true)
    }

    @Test func `orders are reversed term by term, and without an order the key is used`() throws {
        let orders = try Ordering.terms(ofSQL: Array("country, substr(name, 1, 2) COLLATE NOCASE DESC NULLS LAST, (1) asc".utf8))
        #expect(orders.count == 3)
        #expect(
            try sample.sql(authors.order(orders).reversed()) == """
                SELECT * FROM "author" ORDER BY (country) DESC, (substr(name, 1, 2) COLLATE NOCASE) NULLS FIRST, ((1)) DESC
                """)
        #expect(try sample.sql(authors.reversed()) == #"SELECT * FROM "author" ORDER BY "author"."id" DESC"#)
        #expect(try sample.sql(authors.reversed().reversed()) == #"SELECT * FROM "author" ORDER BY "author"."id""#)
        #expect(try sample.sql(authors.reversed().unordered()) == #"SELECT * FROM "author""#)
        let nulls = try authors.order([Ordering(column("born")).nulls(first: false)])
        #expect(try sample.rows(nulls.reversed(), .first) == ["3|Anonymous|-|-|-"])
    }

    @Test func `selected and annotated columns can be used in orders`() throws {
        let age = try Expression.integer(2000).binary(.subtract, column("born"))
        let request = try authors.select([SelectedColumn(column("name")), SelectedColumn(age, name: "age")])
        #expect(
            try sample.sql(request) == """
                SELECT "author"."name", ? - "author"."born" AS "age" FROM "author"
                """)
        let annotated = try authors.annotated(with: [SelectedColumn(age, name: "age")])
        let ordered = try annotated.order([Ordering(annotated.orderColumn("AGE"))])
        #expect(
            try sample.sql(ordered) == """
                SELECT *, ? - "author"."born" AS "age" FROM "author" ORDER BY "AGE"
                """)
        #expect(try sample.rows(ordered).last == "1|Melville|US|1819|0|181")
        #expect(try ordered.compiled(by: sample.compiler).plan.root?.extras.map(\.name) == ["age"])
        #expect(try sample.sql(ordered.selectAll().unordered()) == #"SELECT * FROM "author""#)
    }

    @Test func `selected conditions are marked as booleans`() throws {
        let request = try authors.select([
            SelectedColumn(column("id")), SelectedColumn(column("country").unary(.isNull), name: "homeless"),
        ])
        #expect(try request.compiled(by: sample.compiler).plan.booleanColumns == [1])
        let five = try authors.select([SelectedColumn(.value(.integer(5)), name: "x")])
        let yes = try authors.select([SelectedColumn(.value(.boolean(true)), name: "x")])
        #expect(try five.compiled(by: sample.compiler).plan.booleanColumns == [])
        #expect(try yes.compiled(by: sample.compiler).plan.booleanColumns == [0])
    }

    @Test func `rows are found by single, composite and unique keys`() throws {
        #expect(try sample.rows(authors.filterKey([.integer(2)])) == ["2|Duras|FR|1914|0"])
        let links = try sample.all("book_tag")
        #expect(try sample.rows(links.filterKey([.integer(1), .integer(2)])) == ["1|2|1"])
        let two = try links.filterKeys([[.integer(1), .integer(1)], [.integer(3), .integer(2)]])
        #expect(
            try sample.sql(two) == """
                SELECT * FROM "book_tag" WHERE ("book_tag"."book_id", "book_tag"."tag_id") IN (VALUES (?, ?), (?, ?))
                """)
        #expect(try sample.rows(two) == ["1|1|2", "3|2|1"])
        let many = try links.filterKeys((1...40).flatMap { i in (1...3).map { [.integer(i), .integer($0)] } })
        #expect(try many.compiled(by: sample.compiler).values.count == 1)
        #expect(try sample.rows(many, .count) == ["4"])
        #expect(try sample.rows(links.filterKeys([])) == [])
        #expect(try sample.rows(authors.filterKeys([])) == [])
        let unique = try books.filterUniqueKey([(1, .integer(1)), (2, .text("Typee"))])
        #expect(try sample.rows(unique) == ["2|1|Typee|1846|8.0"])
    }

    @Test func `keys that do not match the table are errors that name the table's keys`() throws {
        #expect(
            requestError { _ = try authors.filterKey([.integer(1), .integer(2)]) }?.message
                == "the key of `author` is `id`: expected 1 value, got 2")
        #expect(
            requestError { _ = try sample.all("book_tag").filterKey([.integer(1)]) }?.message
                == "the key of `book_tag` is `book_id`, `tag_id`: expected 2 values, got 1")
        #expect(requestError { _ = try authors.filterKey([.null]) }?.message == "a key of `author` cannot be null")
        #expect(
            requestError { _ = try books.filterUniqueKey([(2, .text("Typee"))]) }?.message
                .contains("its unique keys are: (id), (author_id, title)") == true)
    }

    @Test func `invalid requests are refused when they are built`() throws {
        #expect(
            requestError { _ = try authors.column("nmae") }?.message
                == "no column `nmae` in `author`; did you mean `name`? Available: id, name, country, born, alive")
        #expect(requestError { _ = try authors.filter(.value(.boolean(false))) }?.kind == "argument")
        #expect(requestError { _ = try authors.filter(column("id").aggregate("max")) }?.message.contains("having") == true)
        #expect(requestError { _ = try authors.limit(-1) }?.message == "a limit cannot be negative: -1")
        #expect(requestError { _ = try authors.limit(1, offset: -1) }?.kind == "argument")
        #expect(requestError { _ = try authors.select([]) }?.message == "a selection cannot be empty")
        #expect(requestError { _ = try authors.group([]) }?.kind == "argument")
        #expect(
            requestError { _ = try authors.annotated(with: [SelectedColumn(.integer(1), name: "NAME")]) }?.message
                .contains("already") == true)
        #expect(requestError { _ = try authors.order([Ordering(.integer(1))]) }?.kind == "argument")
        #expect(requestError { _ = try authors.orderColumn("agee") }?.kind == "unknown_column")
        #expect(requestError { _ = try sample.all("book_tag").column("rowid") }?.kind == "unknown_column")
    }

    @Test func `a column of a table that is not joined is an error when the request is compiled`() throws {
        let request = try books.filter(column("name").equal(.text("x")))
        let error = requestError { _ = try request.compiled(by: sample.compiler) }
        #expect(error?.kind == "not_joined")
        #expect(
            error?.message == """
                a column of `author` is used, but the request reads `book` only; join it: joining_required(...)
                """)
    }

    @Test func `the row id is a column of tables that have one`() throws {
        #expect(
            try sample.sql(authors.filter(authors.column("rowid").equal(.integer(1))))
                == #"SELECT * FROM "author" WHERE "author"."id" = ?"#)
        let odd = try sample.all("odd \"name\"")
        #expect(try sample.sql(odd.orderByPrimaryKey()).hasSuffix(#"ORDER BY "odd ""name"""."rowid""#))
    }

    @Test func `an alias names the table in SQL text`() throws {
        let request = try sample.all("author", alias: "a")
        let filtered = try request.filter(.sql("a.name LIKE ?", .positional([.text("D%")]))).order([
            Ordering(request.column("id"))
        ])
        #expect(
            try sample.sql(filtered) == """
                SELECT * FROM "author" AS "a" WHERE (a.name LIKE ?) ORDER BY "a"."id"
                """)
        #expect(try sample.rows(filtered) == ["2|Duras|FR|1914|0"])
    }

    @Test func `named parameters are bound when a prepared request runs`() throws {
        let request = try authors.filter(column("born").binary(.greater, .parameter("year"))).limit(2)
        let compiled = try request.compiled(by: sample.compiler)
        #expect(compiled.plan.slots == [.parameter("year"), .value(0)])
        #expect(try sample.rows(compiled, parameters: ["year": .integer(1930)]) == ["4|Ernaux|FR|1940|1"])
    }

    @Test func `a request survives unrelated schema changes and follows changes of its table`() throws {
        let request = try authors.filter(column("country").equal(.text("US")))
        #expect(try sample.rows(request) == ["1|Melville|US|1819|0"])
        try sample.change("CREATE TABLE other (x)")
        #expect(try sample.rows(request) == ["1|Melville|US|1819|0"])
        try sample.change("ALTER TABLE author ADD COLUMN died INTEGER; ALTER TABLE author DROP COLUMN born")
        #expect(try sample.rows(request) == ["1|Melville|US|0|-"])
        #expect(try request.compiled(by: sample.compiler).plan.root?.names == ["id", "name", "country", "alive", "died"])
        try sample.change("ALTER TABLE author RENAME COLUMN country TO land")
        #expect(requestError { _ = try request.compiled(by: sample.compiler) }?.kind == "unknown_column")
        try sample.change("ALTER TABLE author RENAME TO writer")
        #expect(requestError { _ = try request.compiled(by: sample.compiler) }?.kind == "unknown_table")
    }
}
