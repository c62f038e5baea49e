import Testing

@testable import Perilune

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

    @Test func `columns are suggested from the tables in the statement`() {
        let found = suggestion("no such column: totl_cents", "SELECT totl_cents FROM invoice")
        #expect(found?.help == "did you mean `total_cents`?  invoice has: id, customer_id, total_cents, paid")
        #expect(found?.names == ["total_cents"])
        #expect(suggestion("no such column: nmae", "SELECT nmae FROM invoice")?.names == [])
    }

    @Test func `tables that occur only in strings and comments are ignored`() {
        let sql = "SELECT piad FROM [customer] WHERE country = 'invoice' -- invoice"
        #expect(suggestion("no such column: piad", sql)?.help == "customer has: id, name, country")
    }

    @Test func `a column may be qualified by a table or an alias`() {
        let sql = "SELECT i.totl_cents FROM main.Invoice AS i JOIN customer"
        #expect(suggestion("no such column: i.totl_cents", sql)?.names == ["total_cents"])
    }

    @Test func `a column without a near match gets the list of columns if one table is meant`() {
        #expect(
            suggestion("no such column: weight", "SELECT weight FROM customer")?.help
                == "customer has: id, name, country")
        #expect(suggestion("no such column: weight", "SELECT weight FROM customer, invoice") == nil)
    }

    @Test func `a column of an INSERT is suggested from its table`() {
        #expect(suggestion("table invoice has no column named piad")?.names == ["paid"])
        #expect(suggestion("table main.invoice has no column named piad")?.names == ["paid"])
    }

    @Test func `a table is suggested, and the tables are listed`() {
        #expect(suggestion("no such table: main.invoces")?.help == "did you mean `invoice`?  tables: customer, invoice")
        #expect(suggestion("no such table: zzz")?.help == "tables: customer, invoice")
        #expect(Suggestion(message: "no such table: zzz", sql: nil, schema: SchemaNames()) == nil)
    }

    @Test func `a function is suggested`() {
        #expect(suggestion("no such function: lenght")?.help == "did you mean `length`?")
        #expect(suggestion("no such function: frobnicate") == nil)
    }

    @Test func `the rule for double quotes is explained`() {
        let sql = #"SELECT * FROM customer WHERE name = "Ana""#
        #expect(suggestion("no such column: Ana", sql)?.help == "write text in single quotes: 'Ana'")
        let newer = #"no such column: "Ana" - should this be a string literal in single-quotes?"#
        #expect(suggestion(newer, sql)?.help == "write text in single quotes: 'Ana'")
    }

    @Test(arguments: ["", "no such table: ", "no such column: ", "UNIQUE constraint failed: customer.id", "table "])
    func `other messages get no wrong suggestion`(message: String) {
        #expect(suggestion(message)?.names ?? [] == [])
    }
}
