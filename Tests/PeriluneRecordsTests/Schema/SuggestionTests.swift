import Testing

@testable import PeriluneRecords

@Suite struct SuggestionTests {
    private let schema = SchemaNames(
        tables: [
            SchemaNames.Table(name: "customer", columns: ["id", "name", "country"]),
            SchemaNames.Table(name: "invoice", columns: ["id", "customer_id", "total_cents", "paid"]),
        ],
        functions: ["abs", "length", "lower"])

    private func suggestion(_ message: String, _ sql: String? = nil) -> Suggestion? {
        Suggestion(message: message, sql: sql, schema: schema)
    }

    @Test func `for an unknown column, columns of the statement's tables are suggested`() {
        let found = suggestion("no such column: totl_cents", "SELECT totl_cents FROM invoice")
        #expect(found?.help == "did you mean `total_cents`?  invoice has: id, customer_id, total_cents, paid")
        #expect(found?.names == ["total_cents"])
        #expect(suggestion("no such column: nmae", "SELECT nmae FROM invoice")?.names == [])
    }

    @Test func `suggestions ignore tables that occur only in strings and comments`() {
        let sql = "SELECT piad FROM [customer] WHERE country = 'invoice' -- invoice"
        #expect(suggestion("no such column: piad", sql)?.help == "customer has: id, name, country")
    }

    @Test func `a suggested column may be qualified by a table or an alias`() {
        let sql = "SELECT i.totl_cents FROM main.Invoice AS i JOIN customer"
        #expect(suggestion("no such column: i.totl_cents", sql)?.names == ["total_cents"])
    }

    @Test func `for an unknown column without a similar name, the columns of the only table are listed`() {
        #expect(
            suggestion("no such column: weight", "SELECT weight FROM customer")?.help
                == "customer has: id, name, country")
        #expect(suggestion("no such column: weight", "SELECT weight FROM customer, invoice") == nil)
    }

    @Test func `for an unknown column in an INSERT, a column of its table is suggested`() {
        #expect(suggestion("table invoice has no column named piad")?.names == ["paid"])
        #expect(suggestion("table main.invoice has no column named piad")?.names == ["paid"])
    }

    @Test func `for an unknown table, the nearest name is suggested and all tables are listed`() {
        #expect(suggestion("no such table: main.invoces")?.help == "did you mean `invoice`?  tables: customer, invoice")
        #expect(suggestion("no such table: zzz")?.help == "tables: customer, invoice")
        #expect(Suggestion(message: "no such table: zzz", sql: nil, schema: SchemaNames()) == nil)
    }

    @Test func `for an unknown table of an attached database, the tables of that database are suggested`() {
        var schema = schema
        schema.attached = ["Other": ["visit", "visitor"], "void": []]
        let found = Suggestion(message: "no such table: other.visits", sql: nil, schema: schema)
        #expect(found?.help == "did you mean `visit`?  tables of Other: visit, visitor" && found?.names == ["visit"])
        #expect(
            Suggestion(message: "no such table: void.customer", sql: nil, schema: schema)?.help
                == "the attached database void is empty; is that the path of its file?")
        #expect(
            Suggestion(message: "no such table: main.custmer", sql: nil, schema: schema)?.help
                == "did you mean `customer`?  tables: customer, invoice")
    }

    @Test func `for an unknown SQL function, the nearest name is suggested`() {
        #expect(suggestion("no such function: lenght")?.help == "did you mean `length`?")
        #expect(suggestion("no such function: frobnicate") == nil)
    }

    @Test func `for text in double quotes, single quotes are suggested`() {
        let sql = #"SELECT * FROM customer WHERE name = "Ana""#
        #expect(suggestion("no such column: Ana", sql)?.help == "write text in single quotes: 'Ana'")
        let newer = #"no such column: "Ana" - should this be a string literal in single-quotes?"#
        #expect(suggestion(newer, sql)?.help == "write text in single quotes: 'Ana'")
    }

    @Test(arguments: ["", "no such table: ", "no such column: ", "UNIQUE constraint failed: customer.id", "table "])
    func `other error messages get no suggestion`(message: String) {
        #expect(suggestion(message)?.names ?? [] == [])
    }
}
