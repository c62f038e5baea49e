/// One piece of work, done by Perilune, by the hand-written C and by the peers.
struct Measure {
    enum Database: Equatable {
        /// 200,000 rows to read, in a file.
        case products
        /// An empty file.
        case emptyFile
        case memory
    }

    /// What the filter of `scripts/bench` looks at.
    let name: String
    let title: String
    let database: Database
    /// What each contestant calls it, where that differs.
    var script: String
    var referenceScript: String
    /// How many rows or calls one sample stands for.
    let count: Int
    /// At most this × C; without one the ratio is information.
    var target: Double?
    /// At most this × LuaSQL.
    var luaSQLTarget: Double?
    var hasPeers = true

    init(
        _ name: String, _ title: String, database: Database, script: String, reference: String? = nil, count: Int,
        target: Double? = nil, luaSQLTarget: Double? = nil, hasPeers: Bool = true
    ) {
        (self.name, self.title, self.database, self.script) = (name, title, database, script)
        (self.referenceScript, self.count, self.target) = (reference ?? script, count, target)
        (self.luaSQLTarget, self.hasPeers) = (luaSQLTarget, hasPeers)
    }

    static let all: [Measure] = [
        Measure("fetch_all", "fetch_all, a table a row", database: .products, script: "fetch_all", count: 200_000,
            target: 1.15, luaSQLTarget: 0.7),
        Measure("fetch_all_by_name", "  ditto, C in the way of nrows", database: .products, script: "fetch_all",
            reference: "fetch_all_by_name", count: 200_000, hasPeers: false),
        Measure("rows", "rows, streaming tables", database: .products, script: "rows", count: 200_000,
            hasPeers: false),
        Measure("tuples", "tuples, streaming values", database: .products, script: "tuples", count: 200_000,
            target: 1.2),
        Measure("select_inside", "point select in an access", database: .products, script: "select_inside",
            count: 200_000, target: 2),
        Measure("select_prepared", "  ditto, statement prepared", database: .products, script: "select_prepared",
            reference: "select_inside", count: 200_000, hasPeers: false),
        Measure("select_outside", "point select, autocommit", database: .products, script: "select_outside",
            count: 50_000, target: 1.3),
        Measure("insert_memory", "prepared insert, memory", database: .memory, script: "insert", count: 100_000,
            target: 1.3),
        Measure("insert_file", "prepared insert, file", database: .emptyFile, script: "insert", count: 100_000,
            target: 1.3),
        Measure("stream", "streaming 1,000,000 rows", database: .memory, script: "stream", count: 1_000_000,
            hasPeers: false),
    ]
}
