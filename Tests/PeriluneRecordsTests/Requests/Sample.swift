import struct Foundation.Data
import GRDB
import Testing

@testable import PeriluneRecords

/// A database with its schema, in which requests are compiled and run.
final class Sample {
    let database: DatabaseQueue
    private(set) var schema = DatabaseSchema(generation: 1)
    let plans = PlanCache()

    init(_ sql: String = Sample.library) throws {
        database = try DatabaseQueue()
        try database.write { db in try db.execute(sql: sql) }
    }

    static let library = #"""
        CREATE TABLE country (code TEXT PRIMARY KEY, name TEXT NOT NULL) WITHOUT ROWID;
        CREATE TABLE author (
            id INTEGER PRIMARY KEY, name TEXT NOT NULL, country TEXT REFERENCES country, born INTEGER, alive BOOLEAN);
        CREATE TABLE book (
            id INTEGER PRIMARY KEY, author_id INTEGER REFERENCES author, title TEXT NOT NULL, year INTEGER, price REAL,
            UNIQUE (author_id, title));
        CREATE INDEX book_author ON book (author_id);
        CREATE TABLE tag (id INTEGER PRIMARY KEY, name TEXT);
        CREATE TABLE book_tag (
            book_id INTEGER REFERENCES book, tag_id INTEGER REFERENCES tag, position INTEGER,
            PRIMARY KEY (book_id, tag_id)) WITHOUT ROWID;
        CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT, boss_id INTEGER REFERENCES person);
        CREATE TABLE "odd ""name""" ("a ""b""" INTEGER, "select" TEXT);
        INSERT INTO country VALUES ('FR', 'France'), ('US', 'United States'), ('XX', 'Nowhere');
        INSERT INTO author VALUES (1, 'Melville', 'US', 1819, 0), (2, 'Duras', 'FR', 1914, 0), (3, 'Anonymous', NULL, NULL, NULL),
            (4, 'Ernaux', 'FR', 1940, 1);
        INSERT INTO book VALUES (1, 1, 'Moby-Dick', 1851, 12.5), (2, 1, 'Typee', 1846, 8), (3, 2, 'L''Amant', 1984, 9.5),
            (4, 3, 'Beowulf', NULL, NULL), (5, NULL, 'Lost', 1900, 1), (6, 4, 'La Place', 1983, 7.0);
        INSERT INTO tag VALUES (1, 'sea'), (2, 'novel'), (3, 'unused');
        INSERT INTO book_tag VALUES (1, 1, 2), (1, 2, 1), (2, 1, 1), (3, 2, 1);
        INSERT INTO person VALUES (1, 'Ada', NULL), (2, 'Bob', 1), (3, 'Cy', 1), (4, 'Di', 2);
        """#

    func table(_ name: String) throws -> TableSchema {
        try database.read { db in try schema.table(name, in: db) }
    }

    func all(_ name: String, alias: String? = nil) throws -> Request {
        Request(try table(name), alias: alias, schema: schema)
    }

    var compiler: RequestCompiler {
        RequestCompiler(schema: schema, plans: plans) { [database, schema] name in
            try database.read { db in try schema.findTable(name, in: db) }
        }
    }

    /// Changes the schema.
    func change(_ sql: String) throws {
        try database.write { db in try db.execute(sql: sql) }
        schema = DatabaseSchema(generation: schema.generation + 1, after: schema)
    }

    func sql(_ request: Request, _ form: RequestForm = .rows) throws -> String {
        try request.compiled(by: compiler, as: form).plan.sql
    }

    // MARK: - Running

    /// Returns each row as a text: values separated by `|`, NULL as `-`.
    func rows(_ request: Request, _ form: RequestForm = .rows) throws -> [String] {
        try rows(request.compiled(by: compiler, as: form))
    }

    func rows(_ compiled: CompiledRequest, keys: [[Value]] = [], parameters: [String: Value] = [:]) throws -> [String] {
        try fetch(compiled, keys: keys, parameters: parameters).map { $0.map(Self.text).joined(separator: "|") }
    }

    func fetch(
        _ compiled: CompiledRequest, keys: [[Value]] = [], parameters: [String: Value] = [:]
    ) throws -> [[DatabaseValue]] {
        try database.writeWithoutTransaction { db in
            let arguments = compiled.plan.slots.map { slot in
                switch slot {
                case .value(let index): Self.databaseValue(compiled.values[index])
                case .parameter(let name): Self.databaseValue(parameters[name]!)
                case .keys: Self.databaseValue(.text(CompiledPrefetch.json(keys)))
                }
            }
            let statement = try db.makeStatement(sql: compiled.plan.sql)
            return try Row.fetchAll(statement, arguments: StatementArguments(arguments)).map { Array($0.databaseValues) }
        }
    }

    static func databaseValue(_ value: Value) -> DatabaseValue {
        switch value {
        case .null: .null
        case .integer(let number): number.databaseValue
        case .real(let number): number.databaseValue
        case .boolean(let flag): flag.databaseValue
        case .text(let bytes): String(decoding: bytes, as: UTF8.self).databaseValue
        case .blob(let bytes): Data(bytes).databaseValue
        }
    }

    static func text(_ value: DatabaseValue) -> String {
        switch value.storage {
        case .null: "-"
        case .int64(let number): "\(number)"
        case .double(let number): "\(number)"
        case .string(let text): text
        case .blob(let data): "x" + data.map { String($0, radix: 16) }.joined()
        }
    }
}

extension Expression {
    static func integer(_ number: Int64) throws -> Expression { try .value(.integer(number)) }
    static func text(_ text: String) throws -> Expression { try .value(.text(text)) }
    func equal(_ other: Expression) throws -> Expression { try binary(.equal, other) }
}

/// Returns the error of a request that cannot be built.
func requestError(_ body: () throws -> Void) -> RequestError? {
    do {
        try body()
        Issue.record("no error")
        return nil
    } catch let error as RequestError {
        return error
    } catch {
        Issue.record("another error: \(error)")
        return nil
    }
}
