import Testing

@testable import PeriluneRecords

@Suite struct WritingTests {
    let sample: Sample
    let authors: Request
    let books: Request

    init() throws {
        sample = try Sample()
        authors = try sample.all("author")
        books = try sample.all("book")
    }

    private func update(
        _ request: Request, _ column: String, _ value: Expression, returning: Returning = .nothing
    ) throws -> CompiledRequest {
        try request.compiledUpdate(
            [Assignment(request.table.column(named: column)!, value)], returning: returning, by: sample.compiler)
    }

    private func book(_ author: Request) throws -> Association {
        try Association.belongsTo("author", from: books.table, to: author)
    }

    @Test func `rows can be updated with expressions`() throws {
        let price = try books.column("price")
        let compiled = try update(
            books.filter(price.binary(.greater, .integer(9))), "price", price.binary(.multiply, .integer(3)),
            returning: .columns([SelectedColumn(books.column("title")), SelectedColumn(price)]))
        #expect(
            compiled.plan.sql == """
                UPDATE "book" SET "price" = "book"."price" * ? WHERE "book"."price" > ? RETURNING "book"."title", "book"."price"
                """)
        #expect(compiled.values == [.integer(3), .integer(9)])
        #expect(compiled.plan.root?.names == ["title", "price"])
        #expect(try sample.rows(compiled).sorted() == ["L'Amant|28.5", "Moby-Dick|37.5"])
    }

    @Test func `deleted rows can be returned as whole rows`() throws {
        let compiled = try books.filter(books.column("year").unary(.isNull)).compiledDelete(
            returning: .allColumns, by: sample.compiler)
        #expect(compiled.plan.sql == #"DELETE FROM "book" WHERE "book"."year" IS NULL RETURNING *"#)
        #expect(compiled.plan.root?.isWhole == true)
        #expect(compiled.plan.root?.columns == 0..<5)
        #expect(try sample.rows(compiled) == ["4|3|Beowulf|-|-"])
        #expect(try sample.rows(books, .count) == ["5"])
        let links = try sample.all("book_tag")
        _ = try sample.rows(links.compiledDelete(by: sample.compiler))
        #expect(try sample.rows(links, .count) == ["0"])
    }

    @Test func `in a write, an alias affects only the names of columns`() throws {
        let b = try sample.all("book", alias: "b")
        let compiled = try update(
            b.filter(b.column("id").equal(.integer(1))), "title", .text("X"),
            returning: .columns([SelectedColumn(b.column("title"))]))
        #expect(compiled.plan.sql == #"UPDATE "book" SET "title" = ? WHERE "book"."id" = ? RETURNING "book"."title""#)
        #expect(try sample.rows(compiled) == ["X"])
    }

    @Test func `an alias that equals the name of the table is allowed`() throws {
        let b = try sample.all("book", alias: "book")
        let compiled = try update(
            b.filter(b.column("id").equal(.integer(1))), "title", .text("X"),
            returning: .columns([SelectedColumn(b.column("title"))]))
        #expect(compiled.plan.sql == #"UPDATE "book" SET "title" = ? WHERE "book"."id" = ? RETURNING "book"."title""#)
        #expect(try sample.rows(compiled) == ["X"])
    }

    @Test func `writes by requests with orders, limits, joins or associations select the rows by key`() throws {
        let cheapest = try books.order([Ordering(books.column("price")).nulls(first: false)]).limit(2)
        let compiled = try cheapest.compiledDelete(returning: .columns([SelectedColumn(books.column("id"))]), by: sample.compiler)
        #expect(
            compiled.plan.sql == """
                DELETE FROM "book" WHERE "book"."id" IN (WITH "perilune_rows" AS MATERIALIZED \
                (SELECT "book"."id" AS "made_0", * FROM "book" ORDER BY "book"."price" NULLS LAST LIMIT ?) \
                SELECT "made_0" FROM "perilune_rows") RETURNING "book"."id"
                """)
        #expect(Set(try sample.rows(compiled)) == ["5", "6"])
        let french = try books.joining(book(authors.filter(authors.column("country").equal(.text("FR")))), required: true)
        #expect(
            try sample.rows(update(french, "price", .integer(0), returning: .columns([SelectedColumn(books.column("id"))]))) == [
                "3"
            ])
        let links = try sample.all("book_tag")
        let some = try links.order([Ordering(links.column("position"), isDescending: true), Ordering(links.column("book_id"))])
            .limit(2)
        let deleted = try some.compiledDelete(by: sample.compiler)
        #expect(
            deleted.plan.sql.hasPrefix(
                """
                DELETE FROM "book_tag" WHERE ("book_tag"."book_id", "book_tag"."tag_id") IN (WITH "perilune_rows" AS MATERIALIZED (SELECT
                """))
        _ = try sample.rows(deleted)
        #expect(try sample.rows(links) == ["2|1|1", "3|2|1"])
    }

    @Test func `rows of a grouped request can be written only if each group is one row`() throws {
        let links = try sample.all("book_tag")
        let byKey = try links.group([links.column("tag_id"), links.column("book_id")])
        #expect(try sample.rows(byKey.compiledDelete(returning: .allColumns, by: sample.compiler)).count == 4)
        #expect(
            requestError {
                _ = try authors.group([authors.column("country")]).compiledDelete(by: sample.compiler)
            }?.message.contains("a group of rows cannot be written") == true)
    }

    @Test func `conflict policies become OR clauses`() throws {
        let compiled = try books.filter(books.column("author_id").equal(.integer(1))).compiledUpdate(
            [Assignment(2, .text("same"))], onConflict: .ignore, by: sample.compiler)
        #expect(compiled.plan.sql.hasPrefix(#"UPDATE OR IGNORE "book" SET "title" = ? WHERE"#))
        _ = try sample.rows(compiled)
        #expect(try sample.rows(books.filter(books.column("title").equal(.text("same"))), .count) == ["1"])
        for policy in ConflictPolicy.allCases {
            let compiled = try books.compiledUpdate([Assignment(3, .integer(1))], onConflict: policy, by: sample.compiler)
            #expect(compiled.plan.sql.hasPrefix("UPDATE OR \(policy.rawValue.uppercased()) \"book\""))
        }
    }

    @Test func `requests that cannot be written are errors`() throws {
        #expect(
            requestError { _ = try books.compiledUpdate([], by: sample.compiler) }?.message
                == "update_all: expected at least one column to change")
        #expect(
            requestError {
                _ = try books.compiledUpdate([Assignment(1, .integer(1)), Assignment(1, .integer(2))], by: sample.compiler)
            }?.message == "update_all: `author_id` is given twice")
        #expect(requestError { _ = try update(books, "price", books.column("price").aggregate("sum")) }?.kind == "argument")
        #expect(requestError { _ = try books.compiledDelete(returning: .columns([]), by: sample.compiler) }?.kind == "argument")
        #expect(
            requestError {
                _ = try books.compiledDelete(
                    returning: .columns([SelectedColumn(.countOfRows(), name: "n")]), by: sample.compiler)
            }?.kind == "argument")
        #expect(requestError { _ = try books.compound(.union, books).compiledDelete(by: sample.compiler) }?.kind == "argument")
        try sample.change("CREATE TABLE made (a, b AS (a + 1)); CREATE VIEW seen AS SELECT 1 AS x")
        let made = try sample.all("made")
        #expect(requestError { _ = try update(made, "b", .integer(1)) }?.message.contains("generated") == true)
        let seen = try sample.all("seen")
        #expect(
            requestError { _ = try seen.limit(1).compiledDelete(by: sample.compiler) }?.message
                == "`seen` has no primary key; name the columns")
    }
}
