import GRDB
import Testing

@testable import PeriluneRecords

@Suite struct DeclaredTypeTests {
    @Test(
        arguments: [
            ("BOOLEAN", .boolean), ("bool", .boolean), ("Boolean(1)", .boolean), ("BOOLEAN ( 1 , 2 )", .boolean),
            (" bool\n(1)", .boolean),
            ("BOOLEANS", nil), ("BOOLEAN UNSIGNED", nil), ("BOOL EAN", nil), ("(BOOLEAN)", nil), ("TINYINT(1)", nil),
            ("BIT", nil),
            ("DATE", .day), (" date (3)", .day), ("datetime(6)", .date), ("Timestamp (3)", .date),
            ("TIMESTAMP WITH TIME ZONE", nil), ("TIME", nil),
            ("BLOB", .blob), ("LONGBLOB", .blob), ("blob(16)", .blob), ("BLOBTEXT", nil), ("BLOB INTEGER", nil),
            ("", nil), ("ANY", nil), ("TEXT", nil), ("(", nil), (" ", nil),
        ] as [(String, DeclaredType.Content?)])
    func `the name of a declared type determines the values of its fields`(_ text: String, _ content: DeclaredType.Content?) {
        #expect(DeclaredType(text).content == content)
    }

    @Test(
        arguments: [
            ("INTEGER", .integer), ("TINYINT(1)", .integer), ("CHARINT", .integer), ("FLOATING POINT", .integer),
            ("VARCHAR(20)", .text),
            ("clob", .text), ("Text", .text), ("BLOBTEXT", .text), ("", .blob), ("BLOB", .blob), ("REALBLOB", .blob),
            ("DOUBLE", .real),
            ("Float", .real), ("REAL", .real), ("STRING", .numeric), ("BOOLEAN", .numeric), ("DATE", .numeric), ("ANY", .numeric),
            ("DECIMAL(10,5)", .numeric), (" ", .numeric),
        ] as [(String, DeclaredType.Affinity)])
    func `type affinities follow SQLite's rules`(_ text: String, _ affinity: DeclaredType.Affinity) {
        #expect(DeclaredType(text).affinity == affinity)
    }

    @Test func `the type ANY preserves values only in a STRICT table`() {
        #expect(DeclaredType("any", isStrict: true).affinity == .blob)
        #expect(DeclaredType("ANY", isStrict: true).content == nil)
        #expect(DeclaredType("INT", isStrict: true).affinity == .integer)
    }

    @Test func `type affinities agree with SQLite for types of random words`() throws {
        let parts = ["INT", "CHAR", "CLOB", "TEXT", "BLOB", "REAL", "FLOA", "DOUB", "ANY", "x", "_", " ", "bool", "Ean", "é"]
        // SQLite's name for the type of a column in a table that was created from a query.
        let names: [DeclaredType.Affinity: String] = [.integer: "INT", .text: "TEXT", .blob: "", .real: "REAL", .numeric: "NUM"]
        var random = SystemRandomNumberGenerator()
        try DatabaseQueue().write { db in
            for _ in 0..<2_000 {
                let type =
                    "t" + (0..<Int.random(in: 0...4, using: &random)).map { _ in parts.randomElement(using: &random)! }.joined()
                try db.execute(sql: "CREATE TABLE a (c \(type)); CREATE TABLE b AS SELECT c FROM a")
                let made = try String.fetchOne(db, sql: "SELECT type FROM pragma_table_info('b')")
                let declared = try #require(try TableSchema.read("a", in: db)).columns[0].type
                #expect(made == names[declared.affinity], "\(declared.text)")
                try db.execute(sql: "DROP TABLE a; DROP TABLE b")
            }
        }
    }
}
