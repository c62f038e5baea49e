import PeriluneRecords
import Testing

@Suite struct NearestNameTests {
    @Test(arguments: [
        ("totl_cents", "total_cents"), ("invoces", "invoices"), ("ttile", "title"), ("TITLE", "title"),
        ("fetchall", "fetch_all"), ("fetch-all", "fetch_all"), ("x", "xy"), ("strasse", "straße"),
    ])
    func `similar names are found`(written: String, meant: String) {
        let names = ["id", "total_cents", "invoice", "invoices", "title", "fetch_all", "fetch_one", "xy", "straße"]
        #expect(nearestName(to: written, among: names) == meant)
    }

    @Test(arguments: [("a", "b"), ("zzz", "abc"), ("", "a"), ("id", "title"), ("salary", "birthday")])
    func `dissimilar names are not suggested`(written: String, other: String) {
        #expect(nearestName(to: written, among: [other]) == nil)
    }

    @Test func `two swapped letters count as one change`() {
        #expect(nearestName(to: "nmae", among: ["nail", "name"]) == "name")
    }

    @Test func `of two equally similar names, the one with the same first letter wins`() {
        #expect(nearestName(to: "dsc", among: ["asc", "desc"]) == "desc")
        #expect(nearestName(to: "ook", among: ["book", "ok"]) == "ok")
    }

    @Test func `the first of two equally similar names wins`() {
        #expect(nearestName(to: "boot", among: ["book", "boat"]) == "book")
    }

    @Test(arguments: [
        ("joining", "joining_required"), ("order_by", "order"), ("fetch", "fetch_all"), ("customer", "customer_id"),
    ])
    func `a name with an additional or missing word is found if no name is closer`(written: String, meant: String) {
        let names = ["order", "joining_optionally", "joining_required", "fetch_all", "customer_id", "or"]
        #expect(nearestName(to: written, among: names) == meant)
    }

    @Test func `the misspelled name itself is not suggested`() {
        #expect(nearestName(to: "title", among: ["title"]) == nil)
    }

    @Test func `a short list of names is shown completely`() {
        #expect(listedNames(near: "title", among: ["id", "name"]) == "id, name")
    }

    @Test func `a long list of names is reduced to the six nearest`() {
        let names = [
            "add", "all", "average", "delete_all", "distinct", "fetch_all", "fetch_count", "fetch_one", "filter", "limit",
            "order",
            "pluck", "rows", "select",
        ]
        #expect(listedNames(near: "fetch", among: names) == "fetch_all, fetch_one, fetch_count, filter, delete_all, add, ...")
        #expect(listedNames(near: "delete_any", among: names).hasPrefix("delete_all, "))
    }

    @Test func `very long names get no suggestion`() {
        let long = String(repeating: "a", count: 1_000_000)
        #expect(nearestName(to: long, among: [long + "b", "a"]) == nil)
        #expect(nearestName(to: "a", among: [long]) == nil)
    }
}
