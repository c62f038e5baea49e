import Testing

@testable import PeriluneRecords

@Suite struct AssociationTests {
    let sample: Sample
    let authors, books, tags, links, people, countries: Request
    let author, bookList, linkList, tag, tagList, boss, reports, country: Association

    init() throws {
        sample = try Sample()
        authors = try sample.all("author")
        books = try sample.all("book")
        tags = try sample.all("tag")
        links = try sample.all("book_tag")
        people = try sample.all("person")
        countries = try sample.all("country")
        author = try .belongsTo("author", from: books.table, to: authors, tag: 7)
        bookList = try .has("books", many: true, from: authors.table, to: books)
        linkList = try .has("links", many: true, from: books.table, to: links)
        tag = try .belongsTo("tag", from: links.table, to: tags)
        tagList = try .through(linkList, tag, name: "tags")
        boss = try .belongsTo("boss", from: people.table, to: people)
        reports = try .has("reports", many: true, from: people.table, to: people)
        country = try .belongsTo("nation", from: authors.table, to: countries)
    }

    private func compiled(_ request: Request) throws -> CompiledRequest { try request.compiled(by: sample.compiler) }

    private func ordered(_ request: Request, by column: String = "id") throws -> Request {
        try request.order([Ordering(request.column(column))])
    }

    // MARK: - Keys

    @Test func `association keys are found in the schema`() {
        #expect(author.originColumns == [1])
        #expect(bookList.originColumns == [0])
        #expect(country.hops[0].columns.map(\.to) == [0])
        #expect(!author.isPlural && bookList.isPlural && tagList.isPlural)
        #expect(tagList.hops.count == 2)
    }

    @Test func `several foreign keys are ambiguous, a missing one is an error, and columns select one`() throws {
        try sample.change(
            """
            CREATE TABLE match (id INTEGER PRIMARY KEY, home INTEGER REFERENCES author, away INTEGER REFERENCES author, x, y)
            """)
        let matches = try sample.all("match")
        let error = requestError { _ = try Association.belongsTo("home", from: matches.table, to: authors) }
        #expect(error?.kind == "ambiguous")
        #expect(
            error?.message == """
                `home`: `match` has 2 foreign keys to `author`; choose one: columns = { "home" } or columns = { "away" }
                """)
        #expect(try Association.belongsTo("home", from: matches.table, to: authors, columns: ["AWAY"]).originColumns == [2])
        #expect(requestError { _ = try Association.belongsTo("book", from: matches.table, to: books) }?.kind == "no_foreign_key")
        let free = try Association.belongsTo("book", from: matches.table, to: books, columns: ["x"])
        #expect(free.originColumns == [3] && free.hops[0].columns[0].to == 0)
        let pair = try Association.belongsTo(
            "l", from: matches.table, to: links, columns: ["x", "y"], referenced: ["tag_id", "book_id"])
        #expect(pair.hops[0].columns.map(\.to) == [1, 0])
        #expect(
            requestError { _ = try Association.belongsTo("l", from: matches.table, to: links, columns: ["x"]) }?.message
                == "`l`: 1 column of `match` cannot point to 2 of `book_tag`")
        #expect(
            requestError { _ = try Association.belongsTo("l", from: matches.table, to: books, columns: ["z"]) }?.kind
                == "unknown_column")
    }

    @Test func `composite association keys are found`() throws {
        try sample.change(
            """
            CREATE TABLE note (id INTEGER PRIMARY KEY, b, t, text TEXT, FOREIGN KEY (b, t) REFERENCES book_tag);
            INSERT INTO note VALUES (1, 1, 2, 'x'), (2, 1, 2, 'y'), (3, 3, 2, 'z'), (4, NULL, 2, 'none')
            """)
        let notes = try sample.all("note")
        let noteList = try Association.has("notes", many: true, from: links.table, to: notes)
        #expect(noteList.originColumns == [0, 1])
        let joined = try links.joining(noteList, required: true)
        #expect(
            try sample.sql(joined).contains(
                #"JOIN "note" ON "note"."b" = "book_tag"."book_id" AND "note"."t" = "book_tag"."tag_id""#))
        #expect(try sample.rows(joined, .count) == ["3"])
        let prefetch = try #require(try compiled(links.includingAll(noteList)).prefetches.first)
        #expect(
            prefetch.child.plan.sql.contains(
                """
                FROM "note" CROSS JOIN (SELECT "key" + 1 AS "perilune_number", \
                CAST(json_extract("value", '$[0]') AS NUMERIC) AS "perilune_key_0", \
                CAST(json_extract("value", '$[1]') AS NUMERIC) AS "perilune_key_1" FROM json_each(?) LIMIT -1) AS "perilune_keys" \
                ON "note"."b" = "perilune_key_0" AND "note"."t" = "perilune_key_1"
                """))
        #expect(prefetch.child.plan.numbersKeys && prefetch.child.plan.keyColumns == [4])
        let keys: [[Value]] = [[.integer(1), .integer(2)], [.integer(3), .integer(2)]]
        #expect(try sample.rows(prefetch.child, keys: keys).sorted() == ["1|1|2|x|1", "2|1|2|y|1", "3|3|2|z|2"])
        #expect(try sample.rows(prefetch.request(forKeys: keys, by: sample.compiler)).count == 3)
        #expect(try sample.rows(.associated(noteList, with: [.integer(1), .integer(2)]), .count) == ["2"])
    }

    // MARK: - Joining

    @Test func `an association can be joined for conditions and orders`() throws {
        let request = try books.joining(author, required: true)
            .filter(authors.column("country").equal(.text("FR"))).order([Ordering(authors.column("name"))])
        #expect(
            try sample.sql(request) == """
                SELECT "book"."id", "book"."author_id", "book"."title", "book"."year", "book"."price" FROM "book" \
                JOIN "author" ON "author"."id" = "book"."author_id" WHERE "author"."country" = ? ORDER BY "author"."name"
                """)
        #expect(try sample.rows(request) == ["3|2|L'Amant|1984|9.5", "6|4|La Place|1983|7.0"])
        #expect(try sample.rows(request, .count) == ["2"])
        #expect(try sample.rows(books.joining(author, required: false), .count) == ["6"])
    }

    @Test func `an association carries its filter, its order and its own associations`() throws {
        let french = try author.map { try $0.filter(authors.column("country").equal(.text("FR"))) }
        #expect(try sample.rows(books.joining(french, required: true), .count) == ["2"])
        #expect(try sample.rows(books.joining(french, required: false), .count) == ["6"])
        let byName = try author.map { try ordered($0, by: "name") }
        let request = try books.joining(byName, required: true).select([SelectedColumn(books.column("id"))])
        #expect(try sample.rows(request).prefix(2) == ["4", "3"])
        let inFrance = try author.map {
            try $0.joining(country.map { try $0.filter(countries.column("name").equal(.text("France"))) }, required: true)
        }
        #expect(
            try sample.rows(ordered(books.joining(inFrance, required: true).select([SelectedColumn(books.column("id"))]))) == [
                "3", "6",
            ])
    }

    @Test func `a required association inside an optional one is joined as a unit`() throws {
        let withCountry = try author.map { try $0.including(country, required: true) }
        let request = try ordered(books.including(withCountry, required: false))
        #expect(
            try sample.sql(request).contains(
                #"""
                LEFT JOIN ("author" JOIN "country" ON "country"."code" = "author"."country") ON "author"."id" = "book"."author_id"
                """#))
        let rows = try sample.rows(request)
        #expect(rows[3] == "4|3|Beowulf|-|-|-|-|-|-|-|-|-")
        #expect(rows[0].hasSuffix("United States"))
        #expect(rows.count == 6)
    }

    @Test func `included associations are row segments, and a NOT NULL column shows whether an optional row exists`() throws {
        let compiled = try compiled(ordered(books.including(author, required: false)))
        #expect(
            compiled.plan.sql == """
                SELECT "book"."id", "book"."author_id", "book"."title", "book"."year", "book"."price", \
                "author"."id", "author"."name", "author"."country", "author"."born", "author"."alive" \
                FROM "book" LEFT JOIN "author" ON "author"."id" = "book"."author_id" ORDER BY "book"."id"
                """)
        let root = try #require(compiled.plan.root)
        #expect(root.columns == 0..<5 && root.index == 0 && !root.isOptional)
        let segment = root.children[0]
        #expect(segment.name == "author" && segment.tag == 7 && segment.columns == 5..<10 && segment.index == 1)
        #expect(segment.isOptional && segment.presence == 5 && segment.isWhole)
        #expect(try sample.rows(compiled)[4] == "5|-|Lost|1900|1.0|-|-|-|-|-")
    }

    @Test func `a selection inside an association also selects the columns that decoding needs`() throws {
        let names = try author.map { try $0.select([SelectedColumn(authors.column("name"))]) }
        let compiled = try compiled(
            ordered(books.select([SelectedColumn(books.column("title"))]).including(names, required: false)))
        #expect(compiled.plan.sql.hasPrefix(#"SELECT "book"."title", "author"."name", "author"."id" FROM"#))
        let segment = try #require(compiled.plan.root?.children[0])
        #expect(!segment.isWhole && segment.names == ["name"] && segment.columns == 1..<2 && segment.presence == 2)
    }

    @Test func `columns of a joined association can be added to the row`() throws {
        let names = try author.map { try $0.select([SelectedColumn(authors.column("name"), name: "author_name")]) }
        let request = try ordered(books.annotated(withJoined: names, required: true))
        let compiled = try compiled(request)
        #expect(compiled.plan.root?.extras.map(\.name) == ["author_name"])
        #expect(compiled.plan.root?.extras[0].column == 5)
        #expect(try sample.rows(request)[0] == "1|1|Moby-Dick|1851|12.5|Melville")
        #expect(try sample.rows(request.order([Ordering(request.orderColumn("author_name"))]), .first)[0].hasSuffix("Anonymous"))
        #expect(
            requestError { _ = try books.annotated(withJoined: author, required: true) }?.message.contains("`id` already") == true
        )
    }

    @Test func `a table can be joined to itself under an alias`() throws {
        let request = try ordered(people.including(boss, required: false))
        #expect(try sample.sql(request).contains(#"LEFT JOIN "person" AS "person_2" ON "person_2"."id" = "person"."boss_id""#))
        #expect(try sample.rows(request) == ["1|Ada|-|-|-|-", "2|Bob|1|1|Ada|-", "3|Cy|1|1|Ada|-", "4|Di|2|2|Bob|1"])
        let ofBob = try people.joining(boss.map { try $0.filter(people.column("name").equal(.text("Bob"))) }, required: true)
        #expect(try sample.rows(ofBob) == ["4|Di|2"])
        let grand = try boss.map { try $0.including(boss.named("boss"), required: true) }
        #expect(try sample.rows(people.including(grand, required: true)) == ["4|Di|2|2|Bob|1|1|Ada|-"])
    }

    @Test func `aliases distinguish several joins of one table`() throws {
        let a = try sample.all("person", alias: "a")
        let b = try sample.all("person", alias: "b")
        let first = try Association.belongsTo("first", from: people.table, to: a)
        let second = try Association.has("second", many: true, from: people.table, to: b)
        let both = try people.joining(first, required: true).joining(second, required: true)
        let request = try both.filter(a.column("name").equal(.text("Ada"))).filter(b.column("name").equal(.text("Di")))
        #expect(try sample.rows(request) == ["2|Bob|1"])
        let plain = try books.joining(author, required: true).joining(author.named("writer"), required: true)
        #expect(requestError { _ = try compiled(plain.filter(authors.column("name").equal(.text("x")))) }?.kind == "ambiguous")
    }

    @Test func `joining the same association twice gives one join with both conditions`() throws {
        let french = try author.map { try $0.filter(authors.column("country").equal(.text("FR"))) }
        let old = try author.map { try $0.filter(authors.column("born").binary(.less, .integer(1930))) }
        let request = try books.joining(french, required: false).including(old, required: true)
        #expect(try sample.sql(request).ranges(of: "JOIN").count == 1)
        #expect(try sample.rows(request, .count) == ["1"])
        #expect(try compiled(request).plan.root?.children.count == 1)
        let other = try Association("author", isPlural: false, from: books.table, columns: [(0, 0)], to: authors)
        #expect(
            requestError { _ = try request.joining(other, required: true) }?.message
                == "two different associations are named `author`; give one of them another name")
    }

    @Test func `associations that cannot be joined are errors`() throws {
        func error(_ change: (Request) throws -> Request) -> String? {
            requestError { _ = try books.joining(author.map(change), required: true) }?.message
        }
        #expect(error { try $0.limit(1) }?.contains("a limit cannot be joined") == true)
        #expect(error { $0.distinct() }?.contains("distinct() cannot be joined") == true)
        #expect(error { try $0.group([authors.column("id")]) }?.contains("groups cannot be joined") == true)
        #expect(
            requestError { _ = try books.joining(bookList, required: true) }?.message
                == "the association `books` belongs to `author`, not to `book`")
        #expect(
            requestError { _ = try authors.including(bookList, required: true) }?.message
                == "`books` may have several rows; use including_all")
        #expect(
            requestError { _ = try authors.includingAll(bookList.named("name")) }?.message
                == "`author` has a column `name`; give the association another name")
        #expect(
            requestError {
                _ = try books.joining(author.map { try $0.including(country, required: true) }, required: true)
            }?.message.contains("use including_") == true)
    }

    // MARK: - Through

    @Test func `an association can lead through an intermediate table`() throws {
        let request = try books.joining(tagList, required: true)
        #expect(
            try sample.sql(request.filter(tags.column("name").equal(.text("novel")))).contains(
                """
                FROM "book" JOIN "book_tag" ON "book_tag"."book_id" = "book"."id" JOIN "tag" ON "tag"."id" = "book_tag"."tag_id"
                """))
        #expect(try sample.rows(request.filter(tags.column("name").equal(.text("novel"))), .count) == ["2"])
        // A link without a matching tag is not an associated row.
        let novels = try tagList.map { try $0.filter(tags.column("name").equal(.text("novel"))) }
        let optional = try ordered(
            books.joining(novels, required: false).select([
                SelectedColumn(books.column("id")), SelectedColumn(tags.column("name"), name: "tag"),
            ]))
        #expect(try sample.rows(optional) == ["1|novel", "2|-", "3|novel", "4|-", "5|-", "6|-"])
        let authorTags = try Association.through(bookList, tagList, name: "tags")
        #expect(authorTags.hops.count == 3)
        let seaAuthors = try authors.joining(
            authorTags.map { try $0.filter(tags.column("name").equal(.text("sea"))) }, required: true)
        #expect(try sample.rows(seaAuthors.distinct(), .count) == ["1"])
        #expect(
            requestError { _ = try Association.through(bookList, country, name: "x") }?.message
                == "`x`: `books` leads to `book`, but `nation` begins at `author`")
        let countryOfBook = try Association.through(author, country, name: "country")
        #expect(!countryOfBook.isPlural)
        let included = try ordered(books.select([SelectedColumn(books.column("id"))]).including(countryOfBook, required: false))
        #expect(
            try sample.rows(included) == [
                "1|US|United States", "2|US|United States", "3|FR|France", "4|-|-", "5|-|-", "6|FR|France",
            ])
    }

    // MARK: - Rows of one record

    @Test func `the associated rows of one row can be requested`() throws {
        let ofMelville = try Request.associated(bookList, with: [.integer(1)])
        #expect(try sample.sql(ofMelville) == #"SELECT * FROM "book" WHERE "book"."author_id" = ?"#)
        #expect(try sample.rows(ofMelville, .count) == ["2"])
        #expect(try sample.rows(.associated(author, with: [.null])) == [])
        let tagsOfFirst = try ordered(.associated(tagList, with: [.integer(1)]))
        #expect(
            try sample.sql(tagsOfFirst) == """
                SELECT "tag"."id", "tag"."name" FROM "tag" JOIN "book_tag" ON "tag"."id" = "book_tag"."tag_id" \
                WHERE "book_tag"."book_id" = ? ORDER BY "tag"."id"
                """)
        #expect(try sample.rows(tagsOfFirst) == ["1|sea", "2|novel"])
        #expect(try sample.rows(tagsOfFirst, .count) == ["2"])
        #expect(try sample.rows(tagsOfFirst.limit(1)) == ["1|sea"])
        let byPosition = try Request.associated(tagList, with: [.integer(1)]).order([Ordering(links.column("position"))])
        #expect(try sample.rows(byPosition) == ["2|novel", "1|sea"])
        let renamed = try Request.associated(tagList, with: [.integer(2)]).compiledUpdate(
            [Assignment(1, .text("ocean"))], by: sample.compiler)
        _ = try sample.rows(renamed)
        #expect(try sample.rows(ordered(tags)) == ["1|ocean", "2|novel", "3|unused"])
    }

    // MARK: - Prefetch

    @Test func `including_all fetches the associations of all rows in one more request`() throws {
        let some = try authors.limit(10)
        let compiled = try compiled(ordered(some.includingAll(bookList.map { try ordered($0, by: "title") })))
        #expect(compiled.prefetches.count == 1)
        let prefetch = compiled.prefetches[0]
        #expect(prefetch.name == "books" && prefetch.isPlural && prefetch.parentKeyColumns == [0] && prefetch.segmentIndex == 0)
        #expect(
            prefetch.child.plan.sql == """
                SELECT "book"."id", "book"."author_id", "book"."title", "book"."year", "book"."price" FROM "book" \
                WHERE "book"."author_id" IN (SELECT +"value" FROM json_each(?)) ORDER BY "book"."title"
                """)
        #expect(prefetch.child.plan.slots == [.keys])
        #expect(prefetch.child.plan.keyColumns == [1])
        #expect(
            try sample.rows(prefetch.child, keys: [[.integer(1)], [.integer(3)]])
                == ["4|3|Beowulf|-|-", "1|1|Moby-Dick|1851|12.5", "2|1|Typee|1846|8.0"])
        let exact = try prefetch.request(forKeys: [[.real(1)], [.integer(3)]], by: sample.compiler)
        #expect(exact.values == [.real(1), .integer(3)])
        #expect(try sample.rows(exact).count == 3)
    }

    @Test func `if all rows are fetched, rows that refer to them by integers are prefetched without binding keys`() throws {
        let compiled = try compiled(ordered(authors.includingAll(bookList.map { try ordered($0, by: "title") })))
        let child = compiled.prefetches[0].child
        #expect(
            child.plan.sql == """
                SELECT "book"."id", "book"."author_id", "book"."title", "book"."year", "book"."price" FROM "book" \
                WHERE "book"."author_id" IS NOT NULL ORDER BY "book"."title"
                """)
        #expect(child.plan.slots == [])
        #expect(child.plan.keyColumns == [1])
        let first = try authors.includingAll(bookList).compiled(by: sample.compiler, as: .first)
        #expect(first.prefetches[0].child.plan.slots == [.keys])
    }

    @Test func `the limit of a prefetched association applies to each row`() throws {
        let newest = try bookList.map {
            try $0.order([Ordering(books.column("year"), isDescending: true)]).limit(1).select([
                SelectedColumn(books.column("title"))
            ])
        }
        let prefetch = try compiled(authors.includingAll(newest)).prefetches[0]
        #expect(
            prefetch.child.plan.sql == """
                SELECT * FROM (SELECT "book"."title", "book"."author_id", row_number() OVER (PARTITION BY "book"."author_id" \
                ORDER BY "book"."year" DESC) AS "perilune_row" FROM "book" WHERE "book"."author_id" IN \
                (SELECT +"value" FROM json_each(?))) WHERE "perilune_row" > ? AND "perilune_row" <= ? ORDER BY "perilune_row"
                """)
        #expect(prefetch.child.plan.keyColumns == [1])
        let keys: [[Value]] = [[.integer(1)], [.integer(2)]]
        #expect(
            try sample.rows(prefetch.child, keys: keys).map { $0.split(separator: "|")[0] }.sorted() == ["L'Amant", "Moby-Dick"])
        let second = try bookList.map { try $0.order([Ordering(books.column("year"), isDescending: true)]).limit(5, offset: 1) }
        let rest = try compiled(authors.includingAll(second)).prefetches[0]
        #expect(try sample.rows(rest.child, keys: keys).map { $0.split(separator: "|")[2] } == ["Typee"])
    }

    @Test func `a prefetch through an intermediate table reads that table's key`() throws {
        let prefetch = try compiled(books.includingAll(tagList.map { try ordered($0) })).prefetches[0]
        #expect(
            prefetch.child.plan.sql == """
                SELECT "tag"."id", "tag"."name", "book_tag"."book_id" FROM "tag" JOIN "book_tag" ON "tag"."id" = "book_tag"."tag_id" \
                WHERE "book_tag"."book_id" IN (SELECT +"value" FROM json_each(?)) ORDER BY "tag"."id"
                """)
        #expect(prefetch.child.plan.keyColumns == [2])
        #expect(prefetch.child.plan.root?.columns == 0..<2)
        #expect(try sample.rows(prefetch.child, keys: [[.integer(1)], [.integer(2)]]) == ["1|sea|1", "1|sea|2", "2|novel|1"])
    }

    @Test func `prefetches nest, even inside joined rows, and add the keys that they need`() throws {
        let deep = try authors.includingAll(bookList.map { try $0.includingAll(tagList) })
        let first = try compiled(deep).prefetches[0]
        #expect(first.child.prefetches.map(\.name) == ["tags"])
        let inside = try author.map { try $0.select([SelectedColumn(authors.column("name"))]).includingAll(bookList) }
        let request = try compiled(books.select([SelectedColumn(books.column("title"))]).including(inside, required: true))
        #expect(request.plan.sql.hasPrefix(#"SELECT "book"."title", "author"."name", "author"."id" FROM"#))
        #expect(request.prefetches[0].segmentIndex == 1 && request.prefetches[0].parentKeyColumns == [2])
        #expect(
            requestError {
                _ = try compiled(authors.select([SelectedColumn(authors.column("name"))]).distinct().includingAll(bookList))
            }?.message.contains("requires that their key columns") == true)
        #expect(try sample.rows(authors.includingAll(bookList), .count) == ["4"])
    }

    @Test func `a self-referencing association is prefetched to the given depth`() throws {
        let request = try people.includingAll(reports, depth: 3)
        var level = try compiled(request).prefetches
        var names: [String] = []
        while let next = level.first {
            names.append(next.name)
            level = next.child.prefetches
        }
        #expect(names == ["reports", "reports", "reports"])
        #expect(requestError { _ = try authors.includingAll(bookList, depth: 2) }?.kind == "argument")
        #expect(requestError { _ = try people.includingAll(reports, depth: 0) }?.kind == "argument")
        var endless = reports
        let error = requestError {
            for _ in 0..<100 { endless = try endless.map { [endless] in try $0.includingAll(endless) } }
        }
        #expect(error?.kind == "too_deep")
    }

    @Test func `associations that cannot be prefetched are errors`() throws {
        #expect(
            requestError {
                _ = try authors.includingAll(bookList.map { try $0.group([books.column("year")]) })
            }?.message == "`books`: an association with groups cannot be included")
        #expect(requestError { _ = try authors.includingAll(author) }?.kind == "argument")
        #expect(
            requestError { _ = try authors.includingAll(bookList).compound(.union, authors) }?.message.contains("joining_")
                == true)
    }

    // MARK: - Aggregates

    @Test func `associated rows can be aggregated`() throws {
        let count = try bookList.aggregate(.count)
        let request = try ordered(
            authors.select([
                SelectedColumn(authors.column("id")), SelectedColumn(count),
                SelectedColumn(bookList.aggregate(.maximum, books.column("year"))),
                SelectedColumn(bookList.aggregate(.average, books.column("price"))),
                SelectedColumn(bookList.aggregate(.isEmpty)),
                SelectedColumn(bookList.aggregate(.sum, books.column("price"))),
                SelectedColumn(bookList.aggregate(.total, books.column("price"))),
                SelectedColumn(bookList.aggregate(.minimum, books.column("year"))),
            ]))
        #expect(try compiled(request).plan.booleanColumns == [4])
        #expect(
            try sample.rows(request) == [
                "1|2|1851|10.25|0|20.5|20.5|1846", "2|1|1984|9.5|0|9.5|9.5|1984", "3|1|-|-|0|-|0.0|-",
                "4|1|1983|7.0|0|7.0|7.0|1983",
            ])
    }

    @Test func `aggregates can be used in arithmetic, conditions and orders`() throws {
        let count = try bookList.aggregate(.count)
        let busy = try authors.having(count.binary(.greaterOrEqual, .integer(2)))
        #expect(
            try sample.sql(busy) == """
                SELECT * FROM "author" WHERE (SELECT COUNT(*) FROM "book" WHERE "book"."author_id" = "author"."id") >= ?
                """)
        #expect(try sample.rows(busy) == ["1|Melville|US|1819|0"])
        #expect(try sample.rows(authors.order([Ordering(count, isDescending: true)]), .first) == ["1|Melville|US|1819|0"])
        let twice = try authors.annotated(with: [SelectedColumn(count.binary(.multiply, .integer(2)), name: "twice")])
        #expect(try sample.rows(ordered(twice), .first) == ["1|Melville|US|1819|0|4"])
        let cheap = try bookList.map { try $0.filter(books.column("price").binary(.less, .integer(10))) }
        #expect(try sample.rows(authors.having(cheap.aggregate(.isEmpty))) == ["3|Anonymous|-|-|-"])
        #expect(try sample.rows(authors.having(cheap.aggregate(.isEmpty).unary(.not)), .count) == ["3"])
        let updated = try authors.filter(authors.column("id").equal(.integer(1))).compiledUpdate(
            [Assignment(3, count)], returning: .columns([SelectedColumn(authors.column("born"))]), by: sample.compiler)
        #expect(try sample.rows(updated) == ["2"])
    }

    @Test func `aggregates work through intermediate tables, on distinct and limited rows, and on the table itself`() throws {
        let tagged = try ordered(books.select([SelectedColumn(books.column("id")), SelectedColumn(tagList.aggregate(.count))]))
        #expect(try sample.rows(tagged) == ["1|2", "2|1", "3|1", "4|0", "5|0", "6|0"])
        let authorTags = try Association.through(bookList, tagList, name: "tags")
        let all = try authors.select([SelectedColumn(authorTags.aggregate(.count))])
        #expect(try sample.rows(ordered(all), .first) == ["3"])
        let different = try authors.select([SelectedColumn(authorTags.map { $0.distinct() }.aggregate(.count))])
        #expect(try sample.rows(ordered(different), .first) == ["2"])
        let limited = try bookList.map { try $0.order([Ordering(books.column("year"))]).limit(1) }
        #expect(
            try sample.rows(ordered(authors.select([SelectedColumn(limited.aggregate(.sum, books.column("price")))])), .first)
                == ["8.0"])
        let bosses = try people.having(reports.aggregate(.count).binary(.greater, .integer(0)))
        #expect(
            try sample.sql(bosses) == """
                SELECT * FROM "person" WHERE (SELECT COUNT(*) FROM "person" AS "person_2" \
                WHERE "person_2"."boss_id" = "person"."id") > ?
                """)
        #expect(try sample.rows(bosses, .count) == ["2"])
        let deep = try reports.map { try $0.having(reports.aggregate(.count).binary(.greater, .integer(0))) }
        #expect(try sample.rows(people.having(deep.aggregate(.isEmpty).unary(.not))) == ["1|Ada|-"])
        let ofLinks = try ordered(
            links.select([
                SelectedColumn(links.column("book_id")),
                SelectedColumn(
                    Association.through(Association.belongsTo("book", from: links.table, to: books), author, name: "a").aggregate(
                        .count)),
            ]), by: "book_id")
        #expect(try sample.rows(ofLinks) == ["1|1", "1|1", "2|1", "3|1"])
    }

    @Test func `impossible aggregates are errors`() throws {
        #expect(requestError { _ = try bookList.aggregate(.sum) }?.message == "`books`: sum needs a column or an expression")
        #expect(requestError { _ = try bookList.aggregate(.sum, books.column("price").aggregate("sum")) }?.kind == "argument")
        #expect(
            requestError { _ = try compiled(books.having(bookList.aggregate(.isEmpty))) }?.message
                == "an aggregate of `books` can be used only in requests of `author`")
        #expect(
            requestError { _ = try bookList.map { try $0.group([books.column("year")]) }.aggregate(.count) }?.kind == "argument")
        #expect(
            requestError {
                _ = try authors.annotated(with: [SelectedColumn(bookList.aggregate(.count).binary(.add, .integer(1)))])
            }?
            .message.contains("needs a name") == true)
    }

    @Test func `associations can lead to common tables`() throws {
        let french = try CommonTable("french", as: authors.filter(authors.column("country").equal(.text("FR"))))
        let association = try Association("french", isPlural: false, from: books.table, columns: [(1, 0)], to: french.request)
        let request = try ordered(books.select([SelectedColumn(books.column("id"))]).including(association, required: true))
        #expect(try sample.rows(request).map { $0.prefix(10) } == ["3|2|Duras|", "6|4|Ernaux"])
        #expect(try sample.rows(compiled(books.includingAll(association)).prefetches[0].child, keys: [[.integer(2)]]).count == 1)
        #expect(try sample.rows(.associated(association, with: [.integer(2)])).count == 1)
    }
}
