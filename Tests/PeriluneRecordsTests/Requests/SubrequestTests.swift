import Testing

@testable import PeriluneRecords

@Suite struct SubrequestTests {
    let sample: Sample
    let authors: Request
    let books: Request

    init() throws {
        sample = try Sample()
        authors = try sample.all("author")
        books = try sample.all("book")
    }

    private func names(_ request: Request) throws -> [String] {
        try sample.rows(request.select([SelectedColumn(request.column("name"))]).order([Ordering(request.column("name"))]))
    }

    // MARK: - As expressions

    @Test func `a request can be used as a list, as a value, and in EXISTS`() throws {
        let old = try books.filter(books.column("year").binary(.less, .integer(1900)))
        let ids = try old.select([SelectedColumn(books.column("author_id"))])
        let list = try authors.filter(authors.column("id").isIn(ids))
        #expect(
            try sample.sql(list) == """
                SELECT * FROM "author" WHERE "author"."id" IN (SELECT "book"."author_id" FROM "book" WHERE "book"."year" < ?)
                """)
        #expect(try names(list) == ["Melville"])
        let exists = try Expression.exists(books.filter(books.column("author_id").equal(authors.column("id"))))
        #expect(
            try sample.sql(authors.filter(exists.unary(.not))) == """
                SELECT * FROM "author" WHERE NOT EXISTS (SELECT 1 FROM "book" WHERE "book"."author_id" = "author"."id")
                """)
        #expect(try names(authors.filter(exists)) == ["Anonymous", "Duras", "Ernaux", "Melville"])
        let newest = try Expression.request(
            books.filter(books.column("author_id").equal(authors.column("id")))
                .select([SelectedColumn(books.column("year").aggregate("max"), name: "year")]))
        let annotated = try authors.annotated(with: [SelectedColumn(newest, name: "newest")])
        #expect(try sample.rows(annotated.order([Ordering(annotated.orderColumn("newest"))])).last == "2|Duras|FR|1914|0|1984")
    }

    @Test func `rows of several columns are compared with requests of equally many columns`() throws {
        let row = try Expression.row([books.column("author_id"), books.column("title")])
        let wanted = try books.filter(books.column("author_id").unary(.isNotNull)).select([
            SelectedColumn(books.column("author_id")), SelectedColumn(books.column("title")),
        ]).limit(2)
        #expect(try sample.rows(books.filter(row.isIn(wanted)), .count) == ["2"])
        #expect(
            requestError { _ = try row.isIn(books) }?.message
                == "is_in: expected a request of 2 columns, got one of 5; use select(...)")
        #expect(requestError { _ = try row.binary(.add, row) }?.kind == "argument")
        #expect(requestError { _ = try books.select([SelectedColumn(row)]) }?.kind == "argument")
        #expect(requestError { _ = try Expression.request(books) }?.message.contains("expected a request of 1 column") == true)
    }

    @Test func `a nested request on the same table refers to its own rows, even in SQL text`() throws {
        let inner = try authors.filter(authors.column("country").equal(.text("FR"))).select([SelectedColumn(authors.column("id"))]
        )
        let request = try authors.filter(authors.column("id").isIn(inner))
        #expect(
            try sample.sql(request) == """
                SELECT * FROM "author" WHERE "author"."id" IN \
                (SELECT "author"."id" FROM "author" WHERE "author"."country" = ?)
                """)
        #expect(try names(request) == ["Duras", "Ernaux"])
        let text = try authors.filter(.sql("author.country = 'FR'")).select([SelectedColumn(authors.column("id"))])
        #expect(try names(authors.filter(authors.column("id").isIn(text))) == ["Duras", "Ernaux"])
    }

    @Test func `an alias can be used only once in a request`() throws {
        let a = try sample.all("author", alias: "a")
        let association = try Association.belongsTo("author", from: books.table, to: a)
        let request = try books.aliased("A").joining(association, required: true)
        #expect(
            requestError { _ = try request.compiled(by: sample.compiler) }?.message
                == "two tables of the request have the alias `a`")
        #expect(requestError { _ = try books.aliased("") }?.kind == "argument")
    }

    @Test func `an alias refers to the outer row of the same table`() throws {
        let elder = try sample.all("author", alias: "elder")
        let exists = try Expression.exists(authors.filter(authors.column("born").binary(.greater, elder.column("born"))))
        #expect(try names(elder.filter(exists)) == ["Duras", "Melville"])
        let twice = try elder.filter(.exists(elder.filter(elder.column("id").equal(elder.column("id")))))
        #expect(try sample.rows(twice, .count) == ["4"])
    }

    @Test func `table names that resemble generated aliases cause no conflict`() throws {
        try sample.change("CREATE TABLE author_2 (id INTEGER PRIMARY KEY); INSERT INTO author_2 VALUES (1)")
        let other = try sample.all("author_2")
        let inner = try authors.filter(.exists(other.filter(other.column("id").equal(authors.column("id")))))
            .select([SelectedColumn(authors.column("id"))])
        let request = try authors.filter(authors.column("id").isIn(inner))
        #expect(try names(request) == ["Melville"])
    }

    // MARK: - Compound requests

    @Test func `the rows of two requests can be combined`() throws {
        let french = try authors.filter(authors.column("country").equal(.text("FR")))
        let old = try authors.filter(authors.column("born").binary(.less, .integer(1930)))
        let union = try french.compound(.union, old)
        #expect(
            try sample.sql(union) == """
                SELECT * FROM "author" WHERE "author"."country" = ? UNION SELECT * FROM "author" WHERE "author"."born" < ?
                """)
        #expect(try names(union) == ["Duras", "Ernaux", "Melville"])
        #expect(try union.compiled(by: sample.compiler).plan.root?.isWhole == true)
        #expect(try names(french.compound(.intersect, old)) == ["Duras"])
        #expect(try names(french.compound(.except, old)) == ["Ernaux"])
        #expect(try sample.rows(french.compound(.unionAll, old), .count) == ["4"])
        #expect(try sample.rows(french.compound(.unionAll, old).compound(.union, old), .count) == ["3"])
        #expect(try sample.rows(union, .exists) == ["1"])
        #expect(try names(union.filter(authors.column("name").like(.like, .text("D%")))) == ["Duras"])
        #expect(try sample.rows(union.order([Ordering(union.column("born"))]), .first) == ["1|Melville|US|1819|0"])
        #expect(try sample.rows(union, .aggregate("MIN", union.column("born"), isDistinct: false)) == ["1819"])
    }

    @Test func `parts of a compound keep their orders, limits and nested compounds`() throws {
        let eldest = try authors.order([Ordering(authors.column("born")).nulls(first: false)]).limit(1)
        let youngest = try authors.order([Ordering(authors.column("born"), isDescending: true)]).limit(1)
        #expect(try names(eldest.compound(.unionAll, youngest)) == ["Ernaux", "Melville"])
        let all = try eldest.compound(.unionAll, authors.compound(.except, youngest))
        #expect(try names(all) == ["Anonymous", "Duras", "Melville", "Melville"])
    }

    @Test func `selections from several tables are combined by position`() throws {
        let titles = try books.select([SelectedColumn(books.column("title"), name: "word")])
        let words = try authors.select([SelectedColumn(authors.column("name"))]).compound(.union, titles)
        let request = try words.filter(words.column("name").like(.like, .text("M%"))).order([Ordering(words.column("name"))])
        #expect(try sample.rows(request) == ["Melville", "Moby-Dick"])
        #expect(requestError { _ = try authors.compound(.union, titles) }?.message.contains("5 and 1") == true)
        #expect(requestError { _ = try words.column("title") }?.kind == "unknown_column")
        let flags = try authors.select([SelectedColumn(authors.column("country").unary(.isNull), name: "x")])
        #expect(try flags.compound(.union, flags).compiled(by: sample.compiler).plan.booleanColumns == [0])
    }

    @Test func `filtering a request with a limit applies the limit first`() throws {
        let first = try authors.order([Ordering(authors.column("id"))]).limit(2)
        let request = try first.nested().filter(authors.column("country").equal(.text("FR")))
        #expect(try names(request) == ["Duras"])
        let counts = try authors.select([
            SelectedColumn(authors.column("country")), SelectedColumn(.countOfRows(), name: "n"),
        ]).group([authors.column("country")]).nested()
        #expect(try sample.rows(counts.filter(counts.column("n").binary(.greater, .integer(1)))) == ["FR|2"])
        #expect(
            requestError {
                _ = try authors.select([SelectedColumn(.countOfRows())]).nested()
            }?.message == "column 1 of the request needs a name: expression:as(\"name\")")
        #expect(
            requestError {
                _ = try authors.select([SelectedColumn(authors.column("id")), SelectedColumn(authors.column("ID"))]).nested()
            }?.message.contains("two columns `id`") == true)
    }

    // MARK: - Common tables

    @Test func `a common table is defined once and can be read several times`() throws {
        let french = try CommonTable("french", as: authors.filter(authors.column("country").equal(.text("FR"))))
        let request = try french.request.filter(french.request.column("born").binary(.greater, .integer(1930)))
        #expect(
            try sample.sql(request) == #"""
                WITH RECURSIVE "french"("id", "name", "country", "born", "alive") AS (SELECT * FROM "author" WHERE "author"."country" = ?) \#
                SELECT * FROM "french" WHERE "french"."born" > ?
                """#)
        #expect(try sample.rows(request) == ["4|Ernaux|FR|1940|1"])
        let column = french.table.column(named: "id")!
        let inner = try Request(source: french.request.source).select([SelectedColumn(.column(column, of: french.table))])
        let outer = try books.with(french).filter(books.column("author_id").isIn(inner))
        #expect(try sample.rows(outer, .count) == ["2"])
        #expect(
            requestError { _ = try books.filter(books.column("author_id").isIn(inner)).compiled(by: sample.compiler) }?.message
                == "the common table `french` is not part of the request; add it with with(...)")
    }

    @Test func `a common table declares its columns and may be recursive`() throws {
        let people = try sample.all("person")
        let tree = try CommonTable("tree", columns: ["id", "name", "level"])
        let root = try people.filter(people.column("boss_id").unary(.isNull)).select([
            SelectedColumn(people.column("id")), SelectedColumn(people.column("name")),
            SelectedColumn(.integer(0), name: "level"),
        ])
        let up = try Association("up", isPlural: false, from: people.table, columns: [(2, 0)], to: tree.request)
        let below = try people.joining(up, required: true).select([
            SelectedColumn(people.column("id")), SelectedColumn(people.column("name")),
            SelectedColumn(tree.request.column("level").binary(.add, .integer(1)), name: "level"),
        ])
        let defined = try tree.defined(as: root.compound(.unionAll, below))
        let request = defined.request
        let ordered = try request.order([Ordering(request.column("level")), Ordering(request.column("name"))])
        #expect(try sample.rows(ordered) == ["1|Ada|0", "2|Bob|1", "3|Cy|1", "4|Di|2"])
        #expect(try sample.rows(ordered, .count) == ["4"])
        #expect(
            requestError { _ = try tree.defined(as: people.limit(1).select([SelectedColumn(people.column("id"))])) }?.kind
                == "argument")
        #expect(requestError { _ = try CommonTable("x", columns: ["a", "A"]) }?.kind == "argument")
        #expect(requestError { _ = try people.with(tree) }?.message == "the common table `tree` is not defined yet")
    }

    @Test func `a common table can be defined by SQL text`() throws {
        let numbers = try CommonTable("numbers", columns: ["n"]).defined(
            asSQL: Array("SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?".utf8), .positional([.integer(5)]))
        let request = numbers.request
        #expect(try sample.rows(request, .aggregate("SUM", request.column("n"), isDistinct: false)) == ["15"])
        #expect(try sample.rows(request.filter(request.column("n").binary(.greater, .integer(3)))) == ["4", "5"])
    }

    @Test func `a common table may share its name with a table without hiding it`() throws {
        let fake = try CommonTable("author", as: authors.filter(authors.column("id").equal(.integer(1))))
        #expect(try sample.rows(fake.request, .count) == ["1"])
        let request = try books.with(fake).filter(
            books.column("author_id").isIn(
                fake.request.select([SelectedColumn(fake.request.column("id"))])))
        #expect(try sample.rows(request, .count) == ["2"])
    }

    @Test func `names of common tables must differ in more than case`() throws {
        let a = try CommonTable("x", as: authors)
        let b = try CommonTable("X", as: books)
        #expect(
            requestError { _ = try authors.with(a).with(b) }?.message
                == "two common tables are named `X`; names must differ in more than case")
        #expect(try sample.rows(authors.with(a).with(a), .count) == ["4"])
    }

    @Test func `the plan of a recreated common table is reused`() throws {
        func sum() throws -> Plan {
            let table = try CommonTable("x", as: authors.filter(authors.column("id").equal(.integer(1))))
            return try table.request.compiled(by: sample.compiler).plan
        }
        #expect(try sum() === sum())
    }
}
