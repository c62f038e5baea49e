import Testing

@testable import PeriluneRecords

/// Tables with the renamed fields of a record class.
@Suite struct FieldNamesTests {
    let sample: Sample
    let table: TableSchema
    let view: TableSchema

    init() throws {
        sample = try Sample()
        table = try sample.all("author").table
        view = table.named(by: FieldNames("name\0full_name\0\0born\0born\0lazy\0"))
    }

    @Test func `a table with renamed fields has fields instead of columns and keeps the column names`() {
        #expect(view.columns.map(\.name) == ["id", "full_name", "country", "born", "alive"])
        #expect(view.columns.map(\.sqlName) == table.columns.map(\.name))
        #expect(view.column(named: "FULL_NAME") == 1)
        #expect(view.column(named: "name") == nil)
        #expect(view.column(inDatabase: "NAME") == 1)
        #expect(view.visibleColumns == [0, 1, 2, 4])
        #expect(view.storedColumns == [0, 1, 2, 3, 4])
    }

    @Test func `equal field names share one renamed table, and without names the table itself is returned`() {
        #expect(table.named(by: FieldNames("name\0full_name\0\0born\0born\0lazy\0")) === view)
        #expect(table.named(by: nil) === table)
        #expect(table.named(by: FieldNames("name\0other\0\0")) !== view)
    }

    @Test func `a request on a table with renamed fields uses columns in SQL and returns rows with fields`() throws {
        let request = Request(view, schema: sample.schema)
        let compiled = try request.filter(request.column("full_name").equal(.text("Duras"))).order([
            Ordering(request.column("born"))
        ])
        .compiled(by: sample.compiler)
        #expect(
            compiled.plan.sql == """
                SELECT "author"."id", "author"."name", "author"."country", "author"."alive" FROM "author" \
                WHERE "author"."name" = ? ORDER BY "author"."born"
                """)
        #expect(compiled.plan.root?.names == ["id", "full_name", "country", "alive"])
        #expect(throws: RequestError.self) { try request.column("name") }
    }

    @Test func `a request on a table with renamed fields does not share a plan with one on the original table`() throws {
        let plain = Request(table, schema: sample.schema), named = Request(view, schema: sample.schema)
        let first = try plain.filter(plain.column("country").equal(.text("FR"))).compiled(by: sample.compiler)
        let second = try named.filter(named.column("country").equal(.text("FR"))).compiled(by: sample.compiler)
        #expect(first.plan !== second.plan)
    }
}
