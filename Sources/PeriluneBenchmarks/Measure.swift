/// A task performed by Perilune, by handwritten C and by other programs.
struct Measure {
    enum Database: Equatable {
        /// A file with 200,000 rows to read.
        case products
        /// An empty file.
        case emptyFile
        case memory
        /// The Chinook sample database of a music shop, if available.
        case chinook
    }

    /// The baseline of a comparison.
    enum Baseline {
        /// Handwritten C.
        case reference
        /// Perilune with SQL and prepared statements, which shows the overhead of records and requests.
        case plain
    }

    /// The maximum cost that a measure may have.
    enum Target {
        /// At most this multiple of the baseline.
        case ratio(Double)
        /// The permitted additional microseconds per call.
        case difference(Double)
    }

    /// The name that selects the measure in `scripts/bench`.
    let name: String
    let title: String
    let database: Database
    let baseline: Baseline
    /// Whether our script uses records and requests instead of SQL.
    let isOfRecords: Bool
    /// The name of the task in all scripts except the baseline's.
    var script: String
    /// The name of the task in the scripts of the baseline.
    var baselineScript: String
    /// The number of rows or calls per sample.
    let count: Int
    /// The target; `nil` if the result is only informative.
    var target: Target?
    /// The maximum ratio of our time to another contestant's time, by its name.
    var peerTargets: [String: Double] = [:]
    /// The names of the other contestants that take part.
    var peers: [String]

    init(
        _ name: String, _ title: String, database: Database, script: String, reference: String? = nil, count: Int,
        target: Double? = nil, luaSQLTarget: Double? = nil, hasPeers: Bool = true
    ) {
        (self.name, self.title, self.database, self.script) = (name, title, database, script)
        (baseline, isOfRecords, baselineScript, self.count) = (.reference, false, reference ?? script, count)
        self.target = target.map { .ratio($0) }
        if let luaSQLTarget { peerTargets[Contestants.luaSQL] = luaSQLTarget }
        peers = hasPeers ? [Contestants.lsqlite3, Contestants.luaSQL, Contestants.python, Contestants.peewee] : []
    }

    /// Creates a measure of records or requests. The baseline is the C task `reference`, or else the same task in SQL.
    init(
        records name: String, _ title: String, database: Database, script: String? = nil, reference: String? = nil,
        plain: String? = nil, count: Int, target: Target? = nil, peers: [String] = [], factor: Double? = nil
    ) {
        (self.name, self.title, self.database) = (name, title, database)
        (baseline, isOfRecords) = (reference == nil ? .plain : .reference, true)
        (self.script, baselineScript, self.count) = (script ?? name, reference ?? plain ?? name, count)
        (self.target, self.peers) = (target, peers)
        if let factor { peerTargets = Dictionary(uniqueKeysWithValues: peers.map { ($0, 1 / factor) }) }
    }

    /// Fetching and inserting rows, compared with C.
    static let rows: [Measure] = [
        Measure(
            "fetch_all", "fetch_all, a table a row", database: .products, script: "fetch_all", count: 200_000,
            target: 1.05, luaSQLTarget: 0.7),
        Measure(
            "fetch_all_by_name", "  ditto, C in the way of nrows", database: .products, script: "fetch_all",
            reference: "fetch_all_by_name", count: 200_000, hasPeers: false),
        Measure(
            "rows", "rows, streaming tables", database: .products, script: "rows", count: 200_000,
            hasPeers: false),
        Measure(
            "tuples", "tuples, streaming values", database: .products, script: "tuples", count: 200_000,
            target: 1.2),
        Measure(
            "select_inside", "point select in an access", database: .products, script: "select_inside",
            count: 200_000, target: 2),
        Measure(
            "select_prepared", "  ditto, statement prepared", database: .products, script: "select_prepared",
            reference: "select_inside", count: 200_000, hasPeers: false),
        Measure(
            "select_outside", "point select, autocommit", database: .products, script: "select_outside",
            count: 50_000, target: 1.1),
        Measure(
            "insert_memory", "prepared insert, memory", database: .memory, script: "insert", count: 100_000,
            target: 1.3),
        Measure(
            "insert_file", "prepared insert, file", database: .emptyFile, script: "insert", count: 100_000,
            target: 1.3),
        Measure(
            "stream", "streaming 1,000,000 rows", database: .memory, script: "stream", count: 1_000_000,
            target: 1.05, hasPeers: false),
    ]

    private static let writers = [Contestants.peewee, Contestants.sqlAlchemy]
    private static let builders = writers + [Contestants.grdb]

    /// Records, compared with C code that uses SQL and prepared statements.
    static let records: [Measure] = [
        Measure(
            records: "record_insert", "record:insert()", database: .memory, reference: "insert", count: 100_000,
            target: .ratio(1.15), peers: writers),
        Measure(
            records: "make_and_insert", "  ditto, made as well", database: .memory, reference: "insert", count: 100_000,
            target: .ratio(1.6)),
        Measure(
            records: "class_insert", "Record:insert{ ... }", database: .memory, reference: "insert", count: 100_000,
            target: .ratio(1.7)),
        Measure(
            records: "insert_all", "Record:insert_all(list)", database: .memory, reference: "insert", count: 100_000,
            target: .ratio(0.5), peers: writers),
        Measure(
            records: "insert_all_many", "  ditto, C with 100 rows a statement", database: .memory, script: "insert_all",
            reference: "insert_many", count: 100_000, target: .ratio(1.2)),
        Measure(
            records: "insert_all_tables", "  ditto, tables without keys, file", database: .emptyFile, reference: "insert",
            count: 100_000,
            target: .ratio(0.8)),
        Measure(
            records: "find", "Record:find(key)", database: .products, reference: "select_inside", count: 200_000,
            target: .ratio(1.3), peers: builders),
        Measure(
            records: "filter_key", "filter_key(key):fetch_one()", database: .products, reference: "select_inside", count: 200_000,
            target: .ratio(1.3), peers: builders, factor: 10),
        Measure(
            records: "filter_key_outside", "  ditto, autocommit", database: .products, reference: "select_outside", count: 50_000,
            target: .ratio(1.3)),
        Measure(
            records: "record_fetch_all", "Record:fetch_all()", database: .products, reference: "fetch_all", count: 200_000,
            target: .ratio(1.05), peers: builders),
    ]

    /// Records and requests, compared with SQL through Perilune.
    static let requests: [Measure] = [
        Measure(
            records: "update_changes", "update_changes, one column", database: .memory, count: 100_000, target: .ratio(2),
            peers: writers),
        Measure(
            records: "request_built_anew", "request built anew, 10 rows", database: .products, plain: "request",
            count: 20_000, target: .difference(1), peers: builders, factor: 10),
        Measure(
            records: "request_kept", "request kept, 10 rows", database: .products, count: 20_000, target: .difference(1),
            peers: builders, factor: 10),
        Measure(
            records: "request_form", "request of a new form, 4 steps", database: .products, count: 2_000,
            target: .difference(45), peers: [Contestants.lsqlite3]),
        Measure(
            records: "including", "412 invoices with their lines", database: .chinook, count: 20, target: .ratio(1.3),
            peers: builders, factor: 10),
        Measure(
            records: "including_texts", "  ditto, by SQL dates are texts", database: .chinook, count: 20),
    ]

    /// Iteration outside of a database access block, compared with iteration inside one.
    static let iterations: [Measure] = [
        Measure(
            records: "rows_outside", "rows outside of a block, beside inside", database: .products, plain: "rows", count: 200_000,
            target: .ratio(1.3)),
        Measure(
            records: "tuples_outside", "  tuples", database: .products, plain: "tuples", count: 200_000, target: .ratio(1.3)),
        Measure(
            records: "record_rows_outside", "  records", database: .products, plain: "record_rows", count: 200_000,
            target: .ratio(1.3)),
    ]

    /// All measures, grouped by their baseline.
    static let all = [rows, records, requests, iterations]
}

extension Measure {
    /// A line of the table in the README: a task of Perilune and of all contestants that support it.
    struct Shown {
        let title: String
        /// The name of our measure.
        let ours: String
        /// The name of the equivalent measure for C and Python.
        let plain: String
    }

    static let shown: [Shown] = [
        Shown(title: "fetch rows, each", ours: "fetch_all", plain: "fetch_all"),
        Shown(title: "fetch a row by its key", ours: "select_inside", plain: "select_inside"),
        Shown(title: "insert a row, statement prepared", ours: "insert_memory", plain: "insert_memory"),
        Shown(title: "fetch all records, each", ours: "record_fetch_all", plain: "fetch_all"),
        Shown(title: "`find` a record", ours: "find", plain: "select_inside"),
        Shown(title: "a record by a request", ours: "filter_key", plain: "select_inside"),
        Shown(title: "insert a record", ours: "record_insert", plain: "insert_memory"),
        Shown(title: "insert 100,000 records, each", ours: "insert_all", plain: "insert_memory"),
        Shown(title: "a request of 10 rows, built each time", ours: "request_built_anew", plain: ""),
    ]
}
