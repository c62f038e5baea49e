import Foundation
import PeriluneTestTools
import Testing

@testable import PeriluneCLI

@Suite(.patience, .startsPrograms) struct ImportCommandTests {
    private func rows(_ folder: TestFolder, _ sql: String) throws -> String {
        let result = try folder.perilune("query", "--database", "x.sqlite", "--format", "jsonl", sql)
        #expect(result.status == 0, "\(result.errors)")
        return result.output
    }

    @Test func `a CSV file creates a table with inferred column types`() throws {
        let folder = try TestFolder([
            "people.csv":
                "id,name,height,zip,note\r\n1,Ada,1.7,00123,\"a \"\"b\"\"\r\nc\"\r\n2,\"Böll, H.\",2,4,\r\n3,\"\",,5,x\r\n"
        ])
        let result = try folder.perilune(
            "import", "people.csv", "--table", "person", "--create", "--primary-key", "id", "--database", "x.sqlite")
        #expect(result.status == 0, "\(result.errors)")
        #expect(
            result.errors.hasPrefix(
                "people.csv: CSV, header, 5 columns: id integer, name text, height real, zip text, note text\n"))
        #expect(result.errors.contains("3 rows into person, created by this import"))
        #expect(
            try rows(folder, "SELECT * FROM person") == """
                {"id":1,"name":"Ada","height":1.7,"zip":"00123","note":"a \\"b\\"\\r\\nc"}
                {"id":2,"name":"Böll, H.","height":2.0,"zip":"4","note":null}
                {"id":3,"name":"","height":null,"zip":"5","note":"x"}

                """)
        #expect(try rows(folder, "SELECT sql FROM sqlite_schema").contains("\\\"id\\\" INTEGER PRIMARY KEY"))
    }

    @Test func `lines that are not JSON, and objects with unknown fields, are set aside with their own lines`() throws {
        let text = "{\"a\":1}\n{\"a\":2\n\n{\"a\":3}\nhello\n{\"a\":4,\"mnute\":5}\n{\"a\":6}}\n{\"a\":7,\"minute\":8}\n"
        let folder = try TestFolder([
            "a.jsonl": text, "short.jsonl": "{\"a\":1}\n{\"a\":2\n{\"a\":3}", "bad.jsonl": "hello\nworld\n",
            "b.json": "[{\"a\":1},\n{\"a\":2, \"x\":3}]", "all.jsonl": "{\"x\":1}\n{\"x\":2}\n",
            "missing.json": "{\"a\": 1\n\"b\": 2}",
        ])
        let made = "db:execute('CREATE TABLE t (a INTEGER, minute INTEGER)')"
        #expect(try folder.perilune("run", "--database", "x.sqlite", "-e", made).status == 0)
        func imported(_ file: String, _ options: String...) throws -> (status: Int32, errors: String) {
            let words = ["import", file, "--table", "t", "--database", "x.sqlite"] + options
            let result = try CommandProcess(TestFolder.binary, words, in: folder).wait()
            return (result.status, result.errors)
        }
        var result = try imported("a.jsonl", "--errors", "left.jsonl")
        #expect(result.status == 65, "\(result.errors)")
        for line in [
            "a.jsonl:2: expected }\n", "a.jsonl:5: expected an object with columns and values\n",
            "a.jsonl:6: t has no column mnute; did you mean `minute`?\n",
            "a.jsonl:7: expected the end of the line after the object\n",
            "4 invalid rows written to left.jsonl\n",
        ] { #expect(result.errors.contains(line), "\(result.errors)") }
        #expect(
            try rows(folder, "SELECT * FROM t ORDER BY a") == """
                {"a":1,"minute":null}
                {"a":3,"minute":null}
                {"a":7,"minute":8}

                """)
        #expect(try folder.read("left.jsonl") == "{\"a\":2\nhello\n{\"a\":4,\"mnute\":5}\n{\"a\":6}}\n")
        result = try imported("short.jsonl")
        #expect(
            result.status == 65 && result.errors.contains("nothing was imported: 1 row is invalid\n  short.jsonl:2: expected }"),
            "\(result.errors)")
        result = try imported("a.jsonl")
        #expect(result.status == 1 && result.errors.contains("a.jsonl:6: t has no column mnute"), "\(result.errors)")
        result = try imported("bad.jsonl", "--errors", "none.jsonl")
        #expect(
            result.status == 65 && result.errors.contains("cannot import bad.jsonl:1: expected an object"), "\(result.errors)")
        result = try imported("all.jsonl", "--errors", "none.jsonl")
        #expect(result.status == 1 && result.errors.contains("all.jsonl:1: t has no column x"), "\(result.errors)")
        result = try imported("b.json", "--errors", "left.json")
        #expect(result.status == 65 && result.errors.contains("b.json:2: object 2: t has no column x\n"), "\(result.errors)")
        result = try imported("missing.json")
        #expect(result.status == 65 && result.errors.contains("cannot import missing.json:1: expected }"), "\(result.errors)")
    }

    @Test func `separators, encodings and missing headers are detected`() throws {
        let folder = try TestFolder([
            "a.txt": "1;x\n2;y;\n".replacing("y;", with: "y"), "b.tsv": "n\tt\n3\tz\n", "one.csv": "x|y\nabc\nd\n",
        ])
        try Data([0x6E, 0x2C, 0x74, 0x0A, 0x34, 0x2C, 0xE9, 0x0A]).write(to: URL(fileURLWithPath: folder.path + "/latin.csv"))
        try Data("n,t\n5,ü\n".data(using: .utf16)!).write(to: URL(fileURLWithPath: folder.path + "/wide.csv"))
        var result = try folder.perilune("import", "b.tsv", "--table", "t", "--database", "x.sqlite")
        #expect(result.errors.hasSuffix("No such file or directory\n  help  use --create to start with an empty database\n"))
        result = try folder.perilune("import", "b.tsv", "--table", "t", "--create", "--database", "x.sqlite")
        #expect(result.status == 0 && result.errors.hasPrefix("b.tsv: TSV, header"), "\(result.errors)")
        result = try folder.perilune("import", "a.txt", "--columns", "n,t", "--table", "t", "--database", "x.sqlite")
        #expect(result.errors.hasPrefix("a.txt: CSV with ;, no header, 2 columns: n integer, t text"), "\(result.errors)")
        result = try folder.perilune("import", "one.csv", "--table", "one", "--create", "--database", "x.sqlite")
        #expect(result.errors.hasPrefix("one.csv: CSV, header, 1 column: x|y text"), "\(result.errors)")
        result = try folder.perilune("import", "latin.csv", "wide.csv", "--table", "t", "--database", "x.sqlite")
        #expect(result.errors.contains("windows-1252") && result.errors.contains("utf-16"), "\(result.errors)")
        #expect(
            try rows(folder, "SELECT group_concat(n || t, ' ') AS all_of_them FROM (SELECT * FROM t ORDER BY n)")
                == "{\"all_of_them\":\"1x 2y 3z 4é 5ü\"}\n")
    }

    @Test func `UTF-16 without a byte order mark is detected, and UTF-32 and NULs in names are refused`() throws {
        let folder = try TestFolder(["nul.csv": "a\0b,c\n1,2\n"])
        let text = "n,t\n5,ü\n"
        for (name, encoding) in [("little.csv", String.Encoding.utf16LittleEndian), ("big.csv", .utf16BigEndian)] {
            try text.data(using: encoding)!.write(to: URL(fileURLWithPath: "\(folder.path)/\(name)"))
        }
        try Data([0xFF, 0xFE, 0, 0] + Array(text.unicodeScalars.flatMap { [UInt8($0.value), 0, 0, 0] })).write(
            to: URL(fileURLWithPath: folder.path + "/wide.csv"))
        var result = try folder.perilune("import", "little.csv", "big.csv", "--table", "t", "--create", "--database", "x.sqlite")
        #expect(result.status == 0, "\(result.errors)")
        result = try folder.perilune("import", "little.csv", "--encoding", "utf-16", "--table", "t", "--database", "x.sqlite")
        #expect(
            try rows(folder, "SELECT DISTINCT n, t, count(*) AS all_of_them FROM t")
                == "{\"n\":5,\"t\":\"ü\",\"all_of_them\":3}\n", "\(result.errors)")
        result = try folder.perilune("import", "wide.csv", "--table", "t", "--database", "x.sqlite")
        #expect(result.status == 65 && result.errors.contains("UTF-32"), "\(result.errors)")
        result = try folder.perilune("import", "nul.csv", "--table", "n", "--create", "--database", "x.sqlite")
        #expect(result.status == 65 && result.errors.contains("the name of column 1 holds a NUL"), "\(result.errors)")
    }

    @Test func `JSON numbers keep all digits in a text column, and must follow the grammar`() throws {
        let folder = try TestFolder([
            "a.json": #"[{"a": 2696.9955669515954}, {"a": "x"}, {"a": "\ud83d\u0041"}]"#, "bad.json": #"{"a": 1.}"#,
        ])
        #expect(try folder.perilune("import", "a.json", "--table", "t", "--create", "--database", "x.sqlite").status == 0)
        // SQLite converts the text to the same number.
        #expect(try rows(folder, "SELECT CAST(a AS REAL) = 2696.9955669515954 AS a FROM t LIMIT 1") == "{\"a\":1}\n")
        #expect(try rows(folder, "SELECT group_concat(a) AS a FROM t WHERE rowid > 1") == "{\"a\":\"x,\u{FFFD}A\"}\n")
        let result = try folder.perilune("import", "bad.json", "--table", "t", "--database", "x.sqlite")
        #expect(result.status == 65 && result.errors.contains("expected a digit after the decimal point"), "\(result.errors)")
    }

    @Test func `a separator that equals the quote character is refused`() throws {
        let folder = try TestFolder(["a.csv": "a,b\n1,2\n"])
        for (separator, quote) in [("\"", "\""), (",", ","), (",", "\n"), ("\r", "none")] {
            let result = try folder.perilune(
                "import", "a.csv", "--table", "t", "--create", "--database", "x.sqlite", "--separator", separator, "--quote",
                quote)
            #expect(result.status == 64, "\(separator) \(quote): \(result.errors)")
        }
    }

    @Test func `JSON and JSON Lines keep their values`() throws {
        let folder = try TestFolder([
            "a.json": #"[{"id": 1, "tags": ["x", 1], "ok": true, "s": "a\u00e9\n\ud83d\ude00"}, {"id": 2, "r": 1.5}]"#,
            "b.jsonl": "{\"id\": 3, \"s\": null}\n\n{\"id\": 4, \"s\": \"\"}\n",
        ])
        let result = try folder.perilune("import", "a.json", "b.jsonl", "--table", "t", "--create", "--database", "x.sqlite")
        #expect(result.status == 0, "\(result.errors)")
        #expect(
            try rows(folder, "SELECT id, tags ->> 0 AS first, ok, s, r FROM t ORDER BY id") == """
                {"id":1,"first":"x","ok":true,"s":"aé\\n😀","r":null}
                {"id":2,"first":null,"ok":null,"s":null,"r":1.5}
                {"id":3,"first":null,"ok":null,"s":null,"r":null}
                {"id":4,"first":null,"ok":null,"s":"","r":null}

                """)
        try folder.write("[{\"id\": 5},\n {\"id\": }]", to: "bad.json")
        let bad = try folder.perilune("import", "bad.json", "--table", "t", "--database", "x.sqlite")
        #expect(bad.status == 65 && bad.errors.contains("cannot import bad.json:2: expected a value"), "\(bad.errors)")
    }

    @Test func `a binary file is refused with its type`() throws {
        let folder = try TestFolder()
        let files: [(name: String, bytes: [UInt8], part: String)] = [
            ("a.csv", Array("SQLite format 3\0".utf8) + [16, 0], "it is an SQLite database"),
            ("b.csv", [0x1F, 0x8B, 8, 0, 0, 0], "it is packed by gzip"),
            ("c.xlsx", Array("PK\u{3}\u{4}".utf8) + [20, 0], "it is a ZIP archive or a spreadsheet"),
            ("d.png", [0x89, 0x50, 0x4E, 0x47, 0, 0], "it is a binary file"),
            ("e.json", [0x89, 0x50, 0x4E, 0x47, 0, 0], "it is a binary file"),
        ]
        for file in files {
            try Data(file.bytes).write(to: URL(fileURLWithPath: folder.path + "/" + file.name))
            let result = try folder.perilune("import", file.name, "--table", "t", "--create", "--database", "x.sqlite")
            #expect(result.status == 65 && result.errors.contains(file.part), "\(result.errors)")
            #expect(result.errors.contains("expected a text file: CSV, TSV, JSON or JSON lines"), "\(result.errors)")
        }
        // Text may contain any character.
        try Data("PAR1,b\nx\0,2\n".utf8).write(to: URL(fileURLWithPath: folder.path + "/f.csv"))
        #expect(try folder.perilune("import", "f.csv", "--table", "t", "--create", "--database", "x.sqlite").status == 65)
        #expect(
            try folder.perilune("import", "f.csv", "--encoding", "utf-8", "--table", "t", "--create", "--database", "x.sqlite")
                .status == 0)
    }

    @Test func `an invalid row is reported with its line and column, and nothing is imported`() throws {
        let folder = try TestFolder(["a.csv": "id,age\n1,30\n2,old\n3\n1,5\n"])
        try #require(
            folder.perilune(
                "run", "--database", "x.sqlite", "-e", "db:execute('CREATE TABLE t (id INTEGER PRIMARY KEY, age INTEGER)')"
            ).status == 0)
        var result = try folder.perilune("import", "a.csv", "--table", "t", "--database", "x.sqlite")
        #expect(result.status == 65)
        #expect(result.errors.contains("nothing was imported: 3 rows are invalid"), "\(result.errors)")
        #expect(result.errors.contains("a.csv:3: column age: expected an integer, got old"))
        #expect(result.errors.contains("a.csv:4: expected 2 fields, got 1"))
        #expect(result.errors.contains("a.csv:5: UNIQUE constraint failed: t.id"))
        #expect(try rows(folder, "SELECT count(*) AS n FROM t") == "{\"n\":0}\n")
        result = try folder.perilune("import", "a.csv", "--table", "t", "--database", "x.sqlite", "--errors", "bad.txt")
        #expect(result.status == 65)
        #expect(try rows(folder, "SELECT * FROM t") == "{\"id\":1,\"age\":30}\n")
        let bad = try String(contentsOfFile: folder.path + "/bad.txt", encoding: .utf8)
        #expect(bad == "id,age\n2,old\n3\n1,5\n")
    }

    @Test func `an upsert changes existing rows`() throws {
        let folder = try TestFolder(["a.csv": "sku,price\na,1\nb,2\n", "b.csv": "sku,price\nb,3\nc,4\n"])
        _ = try folder.perilune("import", "a.csv", "--table", "p", "--create", "--primary-key", "sku", "--database", "x.sqlite")
        let result = try folder.perilune("import", "b.csv", "--table", "p", "--upsert", "--database", "x.sqlite")
        #expect(result.errors.contains("2 rows into p: 1 inserted, 1 updated"), "\(result.errors)")
        #expect(try rows(folder, "SELECT group_concat(sku || price, ' ') AS a FROM p") == "{\"a\":\"a1 b3 c4\"}\n")
    }

    @Test func `a missing table or column is reported with the nearest name`() throws {
        let folder = try TestFolder(["a.csv": "id,nmae\n1,x\n"])
        _ = try folder.perilune("run", "--database", "x.sqlite", "-e", "db:execute('CREATE TABLE person (id, name)')")
        let table = try folder.perilune("import", "a.csv", "--table", "persn", "--database", "x.sqlite")
        #expect(
            table.status == 1 && table.errors.contains("did you mean `person`?")
                && table.errors.contains("use --create to create it: "), "\(table.errors)")
        let column = try folder.perilune("import", "a.csv", "--table", "person", "--database", "x.sqlite")
        #expect(
            column.errors.contains("person has no column nmae") && column.errors.contains("did you mean `name`?"),
            "\(column.errors)")
    }

    @Test func `CSV written by query is imported unchanged`() throws {
        let folder = try TestFolder()
        _ = try folder.perilune(
            "run", "--database", "x.sqlite", "-e",
            "db:execute[[CREATE TABLE t (a INTEGER, b TEXT, c REAL); INSERT INTO t VALUES (1, 'a,\"b\nc', 1.5), (NULL, '', NULL), (-9223372036854775808, '007', 1e300)]]"
        )
        let before = try rows(folder, "SELECT * FROM t")
        for (format, name) in [("csv", "t.csv"), ("tsv", "t.tsv"), ("jsonl", "t.jsonl"), ("json", "t.json")] {
            let written = try folder.perilune(
                "query", "--database", "x.sqlite", "--format", format, "--output", name, "SELECT * FROM t")
            try #require(written.status == 0 && written.output == "", "\(written.errors)")
            let made = try folder.perilune("import", name, "--table", "copy_\(format)", "--create", "--database", "x.sqlite")
            try #require(made.status == 0, "\(made.errors)")
            #expect(try rows(folder, "SELECT * FROM copy_\(format)") == before, "\(format)")
        }
    }

    @Test(
        arguments: [
            ("0", 0), ("-1", -1), ("9223372036854775807", .max), ("-9223372036854775808", .min), ("9223372036854775808", nil),
            ("007", nil),
            ("+1", nil), ("-0", nil), ("1 ", nil), ("", nil), ("-", nil), ("1e3", nil),
        ] as [(String, Int64?)])
    func `text is inferred to be an integer if the integer converts back to the same text`(_ text: String, _ value: Int64?) {
        #expect(NumberText.integer(Array(text.utf8)) == value)
    }

    @Test(
        arguments: [
            (".5", .real), ("-.25", .real), ("+1.5", .real), ("5.", .real), ("1e5", .real), ("-1E-3", .real), ("0.5", .real),
            (" 1.5 ", .real), ("-0", .integer),
            ("-0.0", .real), (" 7", .integer), ("+7", .signedInteger), ("007", .text), ("00.5", .text), (".", .text),
            ("-", .text), ("e5", .text), ("1e", .text),
            ("1e999", .text), ("0x10", .text), ("1_0", .text), ("1,5", .text), ("12345678901234567890", .text), ("", []),
            ("2020-02-29", .date), ("2021-02-29", .impossibleDate), ("2026-13-01 10:00", .impossibleDate), ("2026-13-01x", .text),
            ("2020-02-29 12:30", .datetime), ("2020-02-29T12:30:00Z", .datetime), ("12:30", .text), ("TRUE", .boolean),
            ("false", .boolean), ("yes", .text),
            ("inf", .text), ("nan", .text), ("2012/01/01", .text),
        ] as [(String, ValueForms)])
    func `a field is a number, a date or a boolean only if its whole text matches`(text: String, form: ValueForms) {
        #expect(ValueForms(Array(text.utf8)) == form)
    }

    @Test(arguments: [
        (",name,age\n0,x,5\n1,y,6\n", "column1 integer, name text, age integer"),
        ("\"\",\"mpg\",\"cyl\"\n\"Mazda\",21.5,6\n", "column1 text, mpg real, cyl integer"),
        ("name,age,\nx,5,\n", "name text, age integer, column3 empty"),
        ("id,value,value\n1,2,3\n", "id integer, value integer, value_2 integer"),
        ("country,1960,1961\nAruba,5.4,5.5\nChad,,6\n", "country text, 1960 real, 1961 real"),
        ("\"\",\"16.5\",\"17\"\n\"1\",3,4\n", "column1 integer, 16.5 integer, 17 integer"),
        (",0,1\na,3,4\n", "column1 text, 0 integer, 1 integer"), ("0,1,2\n3,.5,9\n", "0 integer, 1 real, 2 integer"),
        ("isbn,isbn,n\na,b,c\n", "isbn text, isbn_2 text, n text"), ("a,b\n", "a empty, b empty"),
        ("a,NA\n1,2\n", "a integer, NA integer"), ("1,NAME\nfalse,x\ntrue,y\n", "1 boolean, NAME text"),
        ("code,1\n010,2015-07-22\n7,1999-12-31\n", "code text, 1 date"), ("01,02\n5,6\n7,8\n", "01 integer, 02 integer"),
    ])
    func `a first row of names is a header, even if some are empty, repeated or numeric`(text: String, columns: String) throws {
        let folder = try TestFolder(["a.csv": text])
        let result = try folder.perilune("import", "a.csv", "--table", "t", "--create", "--database", "x.sqlite")
        #expect(result.errors.hasPrefix("a.csv: CSV, header, ") && result.errors.contains(": \(columns)\n"), "\(result.errors)")
    }

    @Test(arguments: [
        "1,x\n2,y\n", "Ada,30\nBob,25\n", "NA,5\n1,4\n2,3\n", "2020-01-01,x\n2020-01-02,y\n", "true,a\nfalse,b\n", "1,2\n",
        "Ada,1990\nBob,1985\n", "0,1\n2,3\n", "01234,Berlin\n02345,Bonn\n", "12345,x\n01234,y\n",
    ])
    func `a first row that resembles the others is not a header`(text: String) throws {
        let folder = try TestFolder(["a.csv": text])
        let result = try folder.perilune("import", "a.csv", "--table", "t", "--create", "--database", "x.sqlite")
        #expect(result.errors.hasPrefix("a.csv: CSV, no header, 2 columns: "), "\(result.errors)")
    }

    @Test func `dates, booleans and numbers in a new table get their types`() throws {
        let folder = try TestFolder([
            "a.csv":
                "d,at,ok,r,i,s,phone\n2020-01-01,2020-01-01 10:00,true,.5,-0,+3,+49123\n2021-02-03,2020-01-01,FALSE,+1.5,7,-2,+49\n"
        ])
        let result = try folder.perilune("import", "a.csv", "--table", "t", "--create", "--database", "x.sqlite")
        #expect(
            result.errors.contains(": d date, at datetime, ok boolean, r real, i integer, s integer, phone text\n"),
            "\(result.errors)")
        #expect(
            try rows(folder, "SELECT * FROM t") == """
                {"d":"2020-01-01","at":"2020-01-01 10:00","ok":true,"r":0.5,"i":0,"s":3,"phone":"+49123"}
                {"d":"2021-02-03","at":"2020-01-01","ok":false,"r":1.5,"i":7,"s":-2,"phone":"+49"}

                """)
    }

    @Test func `numeric columns accept every number that SQLite converts`() throws {
        let texts = [".5", "-.25", "+1.5", "-0", " 1", "1 ", "007", "+7", "1e3", "5.", "2.0"]
        let folder = try TestFolder([
            "a.csv": "v\n" + texts.joined(separator: "\n") + "\n",
            "b.csv": "v\n" + texts.dropFirst(3).joined(separator: "\n") + "\n",
        ])
        let tables = "CREATE TABLE r (v REAL); CREATE TABLE i (v INTEGER); CREATE TABLE r2 (v REAL); CREATE TABLE i2 (v INTEGER);"
        let values = { (texts: ArraySlice<String>) in texts.map { "('\($0)')" }.joined(separator: ", ") }
        let script = "\(tables) INSERT INTO r2 VALUES \(values(texts[...])); INSERT INTO i2 VALUES \(values(texts.dropFirst(3)))"
        #expect(try folder.perilune("run", "--database", "x.sqlite", "-e", "db:execute[[\(script)]]").status == 0)
        for (file, table) in [("a.csv", "r"), ("b.csv", "i")] {
            let result = try folder.perilune("import", file, "--table", table, "--database", "x.sqlite")
            #expect(result.status == 0, "\(result.errors)")
            let equal =
                "SELECT count(*) AS n FROM \(table) AS a JOIN \(table)2 AS b ON a.rowid = b.rowid AND quote(a.v) = quote(b.v)"
            #expect(try rows(folder, equal) == "{\"n\":\(table == "r" ? 11 : 8)}\n")
        }
    }

    @Test func `stray quotes are refused unless --quote none keeps them as text`() throws {
        let folder = try TestFolder([
            "q.csv": "id,title\n1,\"Giliap\n2,x\n3,Say \"hi\"\n4,z\n", "inch.csv": "id,title\n1,\"1/2\" anchor\"\n2,5\" pipe\n",
            "single.csv": "id,title\n1,'a,b'\n", "fields.csv": "id,title\n1,\"a\n2,b\n3\",c,d\n",
        ])
        var result = try folder.perilune("import", "q.csv", "--table", "t", "--create", "--database", "x.sqlite")
        #expect(
            result.status == 65
                && result.errors.contains(
                    "q.csv:2: text follows the quote that ends in line 4; a quote in a field must be doubled, or use --quote none"
                ), "\(result.errors)")
        result = try folder.perilune("import", "fields.csv", "--table", "t", "--create", "--database", "x.sqlite")
        #expect(
            result.status == 65 && result.errors.contains("fields.csv:2: expected 2 fields, got 4 in lines 2 to 4; a quote"),
            "\(result.errors)")
        _ = try folder.perilune("import", "q.csv", "--quote", "none", "--table", "q", "--create", "--database", "x.sqlite")
        #expect(
            try rows(folder, "SELECT json_group_array(title) AS all_of_them FROM q")
                == #"{"all_of_them":"[\"\\\"Giliap\",\"x\",\"Say \\\"hi\\\"\",\"z\"]"}"# + "\n")
        _ = try folder.perilune("import", "inch.csv", "--table", "inch", "--create", "--database", "x.sqlite")
        #expect(try rows(folder, "SELECT count(*) AS n FROM inch") == "{\"n\":2}\n")
        _ = try folder.perilune("import", "single.csv", "--quote", "'", "--table", "s", "--create", "--database", "x.sqlite")
        #expect(try rows(folder, "SELECT * FROM s") == "{\"id\":1,\"title\":\"a,b\"}\n")
    }

    @Test func `a byte that is not UTF-8 is refused with its line`() throws {
        let folder = try TestFolder()
        try Data(Array("id,n\n1,café\n2,x".utf8) + [0xE9, 0x0A]).write(to: URL(fileURLWithPath: folder.path + "/a.csv"))
        var result = try folder.perilune("import", "a.csv", "--table", "t", "--create", "--database", "x.sqlite")
        #expect(
            result.status == 65 && result.errors.contains("cannot import a.csv:3: the file is UTF-8, but for the byte 0xE9"),
            "\(result.errors)")
        #expect(result.errors.contains("--encoding"))
        result = try folder.perilune(
            "import", "a.csv", "--encoding", "windows-1252", "--table", "t", "--create", "--database", "x.sqlite")
        #expect(result.status == 0)
    }

    @Test func `the texts for NULL can be chosen, and lines can be skipped`() throws {
        let folder = try TestFolder(["a.csv": "made by \"x\nin 2020\nn,r,s\n1,NA,\\N\nNA, NA ,b\n"])
        let result = try folder.perilune(
            "import", "a.csv", "--skip", "2", "--null", "NA", "--null", "\\N", "--table", "t", "--create", "--database",
            "x.sqlite")
        #expect(result.status == 0 && result.errors.contains(": n integer, r empty, s text"), "\(result.errors)")
        #expect(try rows(folder, "SELECT * FROM t") == "{\"n\":1,\"r\":null,\"s\":null}\n{\"n\":null,\"r\":null,\"s\":\"b\"}\n")
        let hint = try folder.perilune("import", "a.csv", "--skip", "2", "--table", "u", "--create", "--database", "x.sqlite")
        #expect(hint.errors.contains("column n holds numbers except for NA: --null NA makes that NULL"), "\(hint.errors)")
    }

    @Test func `an impossible date among dates is noted, and its row is set aside with --errors`() throws {
        let folder = try TestFolder([
            "d.csv": "name,day\na,2026-01-02\nb,2026-13-01\nc,\nd,2026-01-03\n", "none.csv": "day\n2026-13-01\n",
            "mixed.csv": "day\n2026-01-02\n2026-13-01\nsoon\n", "n.csv": "day\n2026-01-02\nn/a\n",
        ])
        func imported(_ file: String, _ table: String, _ options: String...) throws -> (status: Int32, errors: String) {
            let result = try CommandProcess(
                TestFolder.binary, ["import", file, "--table", table, "--create", "--database", "x.sqlite"] + options, in: folder
            ).wait()
            return (result.status, result.errors)
        }
        var result = try imported("d.csv", "t")
        #expect(result.status == 0 && result.errors.contains("day text\n"), "\(result.errors)")
        #expect(
            result.errors.contains(
                "d.csv: column day holds dates except for 2026-13-01 in line 3: --errors FILE sets such rows aside\n"),
            "\(result.errors)")
        result = try imported("d.csv", "u", "--errors", "bad.csv")
        #expect(result.status == 65 && result.errors.contains("day date\n3 rows into u"), "\(result.errors)")
        #expect(
            result.errors.contains("d.csv:3: column day: expected a month from 1 to 12, got 2026-13-01\n"), "\(result.errors)")
        #expect(!result.errors.contains("except for"), "\(result.errors)")
        #expect(try folder.read("bad.csv") == "name,day\nb,2026-13-01\n")
        #expect(
            try rows(
                folder, "SELECT group_concat(u.name, '') AS n, min(type) AS type FROM u, pragma_table_info('u') WHERE cid = 1")
                == "{\"n\":\"acd\",\"type\":\"DATE\"}\n")
        // Without a single date, or with other text, the column is text.
        result = try imported("none.csv", "v", "--errors", "bad.csv")
        #expect(result.status == 0 && result.errors.contains("day text\n1 row into v"), "\(result.errors)")
        result = try imported("mixed.csv", "w", "--errors", "bad.csv")
        #expect(result.status == 0 && result.errors.contains("day text\n3 rows into w"), "\(result.errors)")
        result = try imported("n.csv", "x")
        #expect(result.errors.contains("column day holds dates except for n/a: --null n/a makes that NULL"), "\(result.errors)")
    }

    @Test func `a text among many numbers is noted with its line`() throws {
        let numbers = (1...20).map { "\($0)\n" }.joined()
        let folder = try TestFolder([
            "one.csv": "n\n\(numbers)12O\n", "same.csv": "n\n\(numbers)unknown\nunknown\n", "two.csv": "n\n\(numbers)12O\n13O\n",
            "few.csv": "n\n1\n2\n3A\n",
        ])
        for (file, note) in [
            ("one.csv", "one.csv: column n holds numbers except for 12O in line 22\n"),
            ("same.csv", "same.csv: column n holds numbers except for unknown: --null unknown makes that NULL\n"),
            ("two.csv", nil), ("few.csv", nil),
        ] {
            let result = try folder.perilune(
                "import", file, "--table", "\(file.prefix { $0 != "." })", "--create", "--database", "x.sqlite")
            #expect(result.status == 0 && result.errors.contains("1 column: n text\n"), "\(result.errors)")
            if let note { #expect(result.errors.contains(note), "\(result.errors)") }
            #expect(result.errors.contains("except for") == (note != nil), "\(result.errors)")
        }
    }

    @Test func `the only text among JSON numbers, dates or booleans is noted, and its row is set aside with --errors`() throws {
        let folder = try TestFolder([
            "n.jsonl": "{\"v\":1}\n{\"v\":2.5}\n{\"v\":\"old\"}\n", "b.jsonl": "{\"v\":true}\n{\"v\":\"maybe\"}\n",
            "b.csv": "v\ntrue\nmaybe\nfalse\n", "d.jsonl": "{\"v\":\"2026-01-02\"}\n{\"v\":\"soon\"}\n",
            "d.csv": "v\n" + (1...9).map { "2026-01-0\($0)\n" }.joined() + "2026-13-07-17\n",
            "two.jsonl": "{\"v\":1}\n{\"v\":\"a\"}\n{\"v\":\"b\"}\n{\"v\":\"a\"}\n",
        ])
        for (file, others, text, line, type, message) in [
            ("n.jsonl", "numbers", "old", 3, "real", "a number, got \"old\""),
            ("b.jsonl", "booleans", "maybe", 2, "boolean", "true or false, got \"maybe\""),
            ("b.csv", "booleans", "maybe", 3, "boolean", "true or false, got maybe"),
            ("d.jsonl", "dates", "soon", 2, "date", "a date such as 2015-07-22 or 2015-07-22 14:30:00, got \"soon\""),
            ("d.csv", "dates", "2026-13-07-17", 11, "date", "a month from 1 to 12, got 2026-13-07-17"),
        ] {
            let table = file.replacing(".", with: "_")
            var result = try folder.perilune("import", file, "--table", table, "--create", "--database", "x.sqlite")
            let note =
                "\(file): column v holds \(others) except for \(text) in line \(line): --errors FILE sets such rows aside\n"
            #expect(result.status == 0 && result.errors.contains(": v text\n\(note)"), "\(result.errors)")
            result = try folder.perilune(
                "import", file, "--table", "\(table)_2", "--create", "--database", "x.sqlite", "--errors", "bad")
            #expect(result.status == 65 && result.errors.contains(": v \(type)\n"), "\(result.errors)")
            #expect(result.errors.contains("\(file):\(line): column v: expected \(message)\n"), "\(result.errors)")
            #expect(!result.errors.contains("except for"), "\(result.errors)")
        }
        let two = try folder.perilune(
            "import", "two.jsonl", "--table", "two", "--create", "--database", "x.sqlite", "--errors", "e")
        #expect(two.status == 0 && !two.errors.contains("except for"), "\(two.errors)")
    }

    @Test func `a text for NULL applies to JSON strings`() throws {
        let folder = try TestFolder(["a.jsonl": "{\"n\":1}\n{\"n\":\"n/a\"}\n{\"n\":\"n/a\"}\n"])
        let hint = try folder.perilune("import", "a.jsonl", "--table", "t", "--create", "--database", "x.sqlite")
        #expect(
            hint.status == 0 && hint.errors.contains("column n holds numbers except for n/a: --null n/a makes that NULL\n"),
            "\(hint.errors)")
        let result = try folder.perilune(
            "import", "a.jsonl", "--null", "n/a", "--table", "u", "--create", "--database", "x.sqlite")
        #expect(result.status == 0 && result.errors.contains(": n integer\n"), "\(result.errors)")
        #expect(try rows(folder, "SELECT * FROM u") == "{\"n\":1}\n{\"n\":null}\n{\"n\":null}\n")
    }

    @Test func `dates in JSON strings get the types that they get in CSV`() throws {
        let folder = try TestFolder()
        let made = try folder.perilune(
            "run", "--database", "x.sqlite", "-e",
            "db:execute[[CREATE TABLE t (d DATE, at DATETIME, s TEXT); INSERT INTO t VALUES ('2026-11-01', '2026-11-01 10:00:00', '12')]]"
        )
        try #require(made.status == 0, "\(made.errors)")
        for format in ["csv", "json", "jsonl"] {
            let written = try folder.perilune(
                "query", "SELECT * FROM t", "--format", format, "--output", "t.\(format)", "--database", "x.sqlite")
            try #require(written.status == 0, "\(written.errors)")
            let result = try folder.perilune("import", "t.\(format)", "--table", format, "--create", "--database", "x.sqlite")
            // In JSON a string of digits is not a number.
            let type = format == "csv" ? "integer" : "text"
            #expect(result.errors.contains(": d date, at datetime, s \(type)\n"), "\(result.errors)")
            #expect(try rows(folder, "SELECT d, at FROM \(format)") == rows(folder, "SELECT d, at FROM t"))
        }
    }

    @Test(arguments: [
        ("2026-11-20T08:46:00Z", "2026-11-20 08:46:00.000"), ("2026-11-20T08:46", "2026-11-20 08:46:00.000"),
        ("2026-01-01T01:30:00.5+02:00", "2025-12-31 23:30:00.500"), ("2026-02-28 23:00:00-01:30", "2026-03-01 00:30:00.000"),
        ("2026-11-20T08:46:00.123456Z", "2026-11-20 08:46:00.123456"), ("2026-11-20T08:46:00.120000Z", "2026-11-20 08:46:00.120"),
        ("1969-12-31T23:59:59.9Z", "1969-12-31 23:59:59.900"), ("2026-11-20 08:46", "2026-11-20 08:46"),
        ("2026-11-20 08:46:00.1", "2026-11-20 08:46:00.1"), ("2026-11-20", "2026-11-20"), ("2026-02-30T08:46:00Z", nil),
    ])
    func `a date with a T or a time zone is stored in the form that records compare`(text: String, stored: String?) {
        #expect(DateText.stored(Array(text.utf8)).map { String(decoding: $0, as: UTF8.self) } == stored)
    }

    @Test func `random times with time zones are stored as the C library computes them`() {
        func text(_ seconds: Int) -> String {
            var time = time_t(seconds), parts = tm(), buffer = [CChar](repeating: 0, count: 32)
            gmtime_r(&time, &parts)
            let count = strftime(&buffer, buffer.count, "%Y-%m-%d %H:%M:%S", &parts)
            return String(decoding: buffer[..<count].map(UInt8.init), as: UTF8.self)
        }
        for _ in 0..<2000 {
            let seconds = Int.random(in: -30_000_000_000...200_000_000_000), zone = Int.random(in: -14 * 60...14 * 60)
            let digits = (0..<Int.random(in: 0...6)).map { _ in String(Int.random(in: 1...9)) }.joined()
            let sign = zone < 0 ? "-" : "+"
            let suffix = sign + String(format: "%02d:%02d", abs(zone) / 60, abs(zone) % 60)
            let local = text(seconds + zone * 60).replacing(" ", with: Bool.random() ? "T" : " ")
            let given = local + (digits.isEmpty ? "" : ".\(digits)") + suffix
            let expected = text(seconds) + "." + digits + String(repeating: "0", count: max(3 - digits.count, 0))
            #expect(DateText.stored(Array(given.utf8)) == Array(expected.utf8), "\(given)")
        }
    }

    @Test func `records compare imported times with a T in new and in existing tables`() throws {
        let folder = try TestFolder([
            "a.csv": "at\n2026-11-20T08:46:00Z\n2026-11-20T13:00:00Z\n",
            "a.jsonl": "{\"at\":\"2026-11-20T09:46:00+01:00\"}\n{\"at\":\"2026-11-20T13:00:00Z\"}\n",
        ])
        for (file, table) in [("a.csv", "e"), ("a.jsonl", "f")] {
            for _ in 1...2 {
                let result = try folder.perilune("import", file, "--table", table, "--create", "--database", "x.sqlite")
                #expect(result.status == 0 && result.errors.contains(": at datetime\n"), "\(result.errors)")
            }
            let count = """
                local E = perilune.record("\(table)")
                print(E:filter(E.c.at:ge(perilune.date("2026-11-20 12:00"))):fetch_count())
                """
            let result = try folder.perilune("run", "--database", "x.sqlite", "-e", count)
            #expect((result.output, result.errors) == ("2\n", ""))
        }
    }

    @Test func `an import without invalid rows empties the file of an earlier one`() throws {
        let folder = try TestFolder(["a.csv": "n\n1\n", "old.csv": "n\nx\n"])
        for file in ["old.csv", "new.csv"] {
            let result = try folder.perilune(
                "import", "a.csv", "--table", "t", "--create", "--database", "x.sqlite", "--errors", file)
            #expect(result.status == 0, "\(result.errors)")
        }
        #expect(try folder.read("old.csv") == "")
        #expect(!folder.exists("new.csv"))
    }

    @Test(arguments: [
        ("code", #""code" TEXT NOT NULL PRIMARY KEY, "n" INTEGER"#), ("n", #""code" TEXT, "n" INTEGER PRIMARY KEY"#),
        ("code,n", #""code" TEXT NOT NULL, "n" INTEGER NOT NULL, PRIMARY KEY ("code", "n")"#),
    ])
    func `the key of a new table cannot be NULL`(key: String, columns: String) throws {
        let folder = try TestFolder(["a.csv": "code,n\na,1\n"])
        let result = try folder.perilune(
            "import", "a.csv", "--table", "t", "--create", "--primary-key", key, "--database", "x.sqlite")
        #expect(result.status == 0, "\(result.errors)")
        let sql = try folder.perilune("query", "SELECT sql FROM sqlite_schema", "--format", "tsv", "--database", "x.sqlite")
        #expect(sql.output.contains(columns) || sql.output.replacing("\"\"", with: "\"").contains(columns), "\(sql.output)")
    }

    @Test func `pipes and FIFOs can be read by name`() throws {
        let folder = try TestFolder(["a.csv": "n,t\n1,x\n"])
        let result = try folder.shell(
            "mkfifo f; cat a.csv > f & $PERILUNE import f --table t --create --database x.sqlite "
                + "&& cat a.csv | $PERILUNE import /dev/stdin --table t --database x.sqlite")
        #expect(result.status == 0, "\(result.errors)")
        #expect(try rows(folder, "SELECT * FROM t") == "{\"n\":1,\"t\":\"x\"}\n{\"n\":1,\"t\":\"x\"}\n")
    }

    @Test func `the file of invalid rows can be corrected and imported with the same options`() throws {
        let folder = try TestFolder([
            "a.csv": "# note\r\nid;t;n\r\n1;\"a;\r\nb\";x\r\n2; y ;2\r\n;;z\r\n",
            "l.json": "[{\"n\":\"x\"},{\"n\":1},{\"n\":{\"a\":[1]}}]",
        ])
        #expect(
            try folder.perilune(
                "run", "--database", "x.sqlite", "-e", "db:execute('CREATE TABLE t (id INTEGER, t TEXT, n INTEGER)')"
            ).status == 0)
        let options = "--skip 1 --table t --database x.sqlite"
        #expect(try folder.shell("$PERILUNE import a.csv --errors bad.csv \(options)").status == 65)
        let bad = try String(contentsOfFile: folder.path + "/bad.csv", encoding: .utf8)
        #expect(bad == "# note\r\nid;t;n\r\n1;\"a;\r\nb\";x\r\n;;z\r\n")
        try folder.write(bad.replacing(";x", with: ";1").replacing(";z", with: ";3"), to: "bad.csv")
        #expect(try folder.shell("$PERILUNE import bad.csv \(options)").status == 0)
        #expect(
            try rows(folder, "SELECT id, t, n FROM t")
                == "{\"id\":2,\"t\":\" y \",\"n\":2}\n{\"id\":1,\"t\":\"a;\\r\\nb\",\"n\":1}\n{\"id\":null,\"t\":null,\"n\":3}\n")
        let list = try folder.perilune("import", "l.json", "--table", "t", "--errors", "bad.json", "--database", "x.sqlite")
        #expect(list.errors.contains("l.json:1: object 3: column n: expected an integer"), "\(list.errors)")
        #expect(try String(contentsOfFile: folder.path + "/bad.json", encoding: .utf8) == "{\"n\":\"x\"}\n{\"n\":{\"a\":[1]}}\n")
    }

    @Test func `a missing field of an object keeps the default or the existing value`() throws {
        let folder = try TestFolder([
            "a.jsonl": "{\"id\":1,\"b\":\"B3\"}\n{\"id\":9,\"a\":\"x\",\"n\":\"q\"}\n{\"id\":10,\"a\":null}\n{}\n"
        ])
        let table =
            "CREATE TABLE d (id INTEGER PRIMARY KEY, a TEXT DEFAULT 'd', b TEXT, n TEXT NOT NULL DEFAULT 'x'); INSERT INTO d VALUES (1, 'A', 'B', 'N')"
        #expect(try folder.perilune("run", "--database", "x.sqlite", "-e", "db:execute[[\(table)]]").status == 0)
        let result = try folder.perilune("import", "a.jsonl", "--table", "d", "--upsert", "--database", "x.sqlite")
        #expect(result.status == 0 && result.errors.contains("4 rows into d: 3 inserted, 1 updated"), "\(result.errors)")
        #expect(
            try rows(folder, "SELECT * FROM d") == """
                {"id":1,"a":"A","b":"B3","n":"N"}
                {"id":9,"a":"x","b":null,"n":"q"}
                {"id":10,"a":null,"b":null,"n":"x"}
                {"id":11,"a":"d","b":null,"n":"x"}

                """)
    }

    @Test func `an upsert needs a unique key, and a field needs a name`() throws {
        let folder = try TestFolder(["a.csv": "id,v\n1,2\n", "b.csv": ",id,v\n0,1,2\n"])
        #expect(try folder.perilune("run", "--database", "x.sqlite", "-e", "db:execute('CREATE TABLE t (id, v)')").status == 0)
        var result = try folder.perilune(
            "import", "a.csv", "--table", "t", "--upsert", "--primary-key", "id", "--database", "x.sqlite")
        #expect(
            result.status == 1 && result.errors.contains("t has no unique key on id, which --upsert needs"), "\(result.errors)")
        #expect(result.errors.contains("CREATE UNIQUE INDEX \"t_by_id\" ON \"t\" (\"id\")"))
        result = try folder.perilune("import", "b.csv", "--table", "t", "--database", "x.sqlite")
        #expect(
            result.status == 1 && result.errors.contains("b.csv: the header has no name for column 1")
                && result.errors.contains("--columns ',id,v'"), "\(result.errors)")
    }

    @Test(arguments: [
        ("a,b\n1,2\n3,", "1|2 3|"), ("a,b\n1,2\n,", "1|2 |"), ("a,b,c\n1,2,", "1|2|"), ("a,b\n1,2\n3,\"\"", "1|2 3|"),
        ("a,b\n\n1,2\n\n", "1|2"),
        ("a\n1\n\n3\n", "1  3"), ("a\r\n\r\n2\r\n", " 2"), ("\na\n1\n\n", "1 "), ("a\n1", "1"),
    ])
    func `the last row may end with an empty field, and a single column may have empty lines`(text: String, expected: String)
        throws
    {
        let folder = try TestFolder(["a.csv": text])
        let result = try folder.perilune("import", "a.csv", "--table", "t", "--create", "--header", "--database", "x.sqlite")
        #expect(result.status == 0, "\(result.errors)")
        let columns = text.contains("b") ? text.contains("c") ? "a, b, c" : "a, b" : "a"
        let parts = columns.split(separator: ", ").map { "ifnull(\($0), '')" }.joined(separator: " || '|' || ")
        #expect(try rows(folder, "SELECT group_concat(\(parts), ' ') AS it FROM t") == "{\"it\":\"\(expected)\"}\n")
    }

    @Test(arguments: ["csv", "tsv", "jsonl", "json"])
    func `values written by a query are imported unchanged`(format: String) throws {
        let folder = try TestFolder()
        let isJSON = format.hasPrefix("json")
        let values =
            "(NULL), (1), (1.5), ('x'), (''), ('a,\"b\r\n'), ('\t')"
            + (isJSON ? ", (x'00ff'), (CAST(x'61ff' AS TEXT)), (9e999)" : "")
        #expect(
            try folder.perilune(
                "run", "--database", "x.sqlite", "-e", "db:execute[[CREATE TABLE t (a); INSERT INTO t VALUES \(values)]]"
            ).status == 0)
        let written = try folder.perilune("query", "--database", "x.sqlite", "--format", format, "SELECT a FROM t")
        try Data(written.output.utf8).write(to: URL(fileURLWithPath: "\(folder.path)/t.\(format)"))
        #expect(try folder.perilune("run", "--database", "x.sqlite", "-e", "db:execute[[CREATE TABLE u (a)]]").status == 0)
        let result = try folder.perilune("import", "t.\(format)", "--table", "u", "--database", "x.sqlite")
        #expect(result.status == 0, "\(result.errors)")
        #expect(
            try rows(folder, "SELECT group_concat(quote(a)) = (SELECT group_concat(quote(a)) FROM t) AS equal FROM u")
                == "{\"equal\":1}\n")
    }

    @Test func `column names of imported files are case-insensitive`() throws {
        let folder = try TestFolder([
            "a.csv": "a,a,B,b\n1,2,3,4\n", "a.jsonl": "{\"Id\":1,\"n\":2}\n{\"ID\":3,\"N\":4}\n",
            "both.jsonl": "{\"n\":1,\"N\":2}\n",
        ])
        #expect(
            try folder.perilune("import", "a.csv", "--table", "t", "--create", "--header", "--database", "x.sqlite").status == 0)
        #expect(try rows(folder, "SELECT * FROM t") == "{\"a\":1,\"a_2\":2,\"B\":3,\"b_2\":4}\n")
        var result = try folder.perilune(
            "import", "a.jsonl", "--table", "u", "--create", "--primary-key", "id", "--database", "x.sqlite")
        #expect(result.status == 0, "\(result.errors)")
        #expect(try rows(folder, "SELECT * FROM u") == "{\"Id\":1,\"n\":2}\n{\"Id\":3,\"n\":4}\n")
        #expect(try rows(folder, "SELECT sql FROM sqlite_schema WHERE name = 'u'").contains("PRIMARY KEY"))
        result = try folder.perilune("import", "both.jsonl", "--table", "u", "--database", "x.sqlite")
        #expect(
            result.status == 65 && result.errors.contains("both.jsonl:1: column N: the object has two fields of this name"),
            "\(result.errors)")
        result = try folder.perilune(
            "import", "a.jsonl", "--table", "v", "--create", "--primary-key", "key", "--database", "x.sqlite")
        #expect(result.status == 1 && result.errors.contains("--primary-key names key, which no file has"), "\(result.errors)")
    }

    @Test func `integers beyond 64 bits keep their digits or are refused`() throws {
        let folder = try TestFolder(["a.json": "[{\"h\":12345678901234567890123},{\"h\":-9223372036854775808}]"])
        #expect(try folder.perilune("import", "a.json", "--table", "t", "--create", "--database", "x.sqlite").status == 0)
        #expect(try rows(folder, "SELECT * FROM t") == "{\"h\":\"12345678901234567890123\"}\n{\"h\":\"-9223372036854775808\"}\n")
        #expect(
            try folder.perilune("run", "--database", "x.sqlite", "-e", "db:execute[[CREATE TABLE u (h INTEGER)]]").status == 0)
        let result = try folder.perilune("import", "a.json", "--table", "u", "--database", "x.sqlite")
        #expect(
            result.status == 65
                && result.errors.contains(
                    "a.json:1: object 1: column h: expected an integer of 64 bits, got \"12345678901234567890123\""),
            "\(result.errors)")
    }

    @Test func `dates for an existing table are checked`() throws {
        let folder = try TestFolder([
            "a.csv": "name,d\na,2026-01-01\nb,01/02/2026\nc,2026-02-30\nd,\ne,2026-01-01 14:30\n",
            "b.json": "[{\"name\":\"f\",\"d\":\"soon\"}]",
        ])
        #expect(
            try folder.perilune("run", "--database", "x.sqlite", "-e", "db:execute[[CREATE TABLE t (name TEXT, d DATE)]]").status
                == 0)
        var result = try folder.perilune("import", "a.csv", "--table", "t", "--database", "x.sqlite", "--errors", "bad.txt")
        #expect(result.status == 65 && result.errors.contains("2 invalid rows"), "\(result.errors)")
        #expect(
            result.errors.contains(
                "a.csv:3: column d: expected a date such as 2015-07-22 or 2015-07-22 14:30:00, got 01/02/2026"),
            "\(result.errors)")
        #expect(
            result.errors.contains("a.csv:4: column d: expected a day from 1 to 28 in month 2 of year 2026, got 2026-02-30"),
            "\(result.errors)")
        #expect(try String(contentsOfFile: folder.path + "/bad.txt", encoding: .utf8) == "name,d\nb,01/02/2026\nc,2026-02-30\n")
        #expect(
            try rows(folder, "SELECT group_concat(name || ifnull(d, '')) AS it FROM t")
                == "{\"it\":\"a2026-01-01,d,e2026-01-01 14:30\"}\n")
        result = try folder.perilune("import", "b.json", "--table", "t", "--database", "x.sqlite")
        #expect(result.status == 65 && result.errors.contains("got \"soon\""), "\(result.errors)")
    }

    @Test func `the error for a file without a header lists the table's columns`() throws {
        let folder = try TestFolder(["a.csv": "40;Ivo;Kiel\n41;Ada;Ulm\n"])
        let table = "db:execute[[CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT, note TEXT)]]"
        #expect(try folder.perilune("run", "--database", "x.sqlite", "-e", table).status == 0)
        let result = try folder.perilune("import", "a.csv", "--table", "t", "--database", "x.sqlite")
        #expect(result.status == 1)
        #expect(
            result.errors.hasSuffix(
                "error: a.csv: no header names the columns of t\n"
                    + "  help  name them in the order of the fields: --columns 'id,name,city'\n"), "\(result.errors)")
        let named = try folder.perilune(
            "import", "a.csv", "--table", "t", "--database", "x.sqlite", "--columns", "id,name,city")
        #expect(named.status == 0, "\(named.errors)")
    }

    @Test func `JSON values are checked like CSV values`() throws {
        let folder = try TestFolder([
            "a.jsonl": """
            {"id":1,"r":"1.5","n":"12","ok":"yes","d":5,"t":true,"x":"12"}
            {"id":2,"r":1,"n":3.0,"ok":1,"d":"2020-01-01","t":1.5,"x":"a"}
            {"id":3,"r":"x"}
            {"id":4,"n":1.5}
            {"id":5,"n":""}
            {"id":6,"ok":7}
            {"id":7,"ok":"maybe"}
            {"id":8,"d":true}
            """
        ])
        let table = "db:execute[[CREATE TABLE t (id INTEGER PRIMARY KEY, r REAL, n INTEGER, ok BOOLEAN, d DATE, t TEXT, x)]]"
        #expect(try folder.perilune("run", "--database", "x.sqlite", "-e", table).status == 0)
        let result = try folder.perilune("import", "a.jsonl", "--table", "t", "--database", "x.sqlite", "--errors", "e")
        #expect(result.status == 65 && result.errors.contains("6 invalid rows written to e"), "\(result.errors)")
        #expect(
            try String(contentsOfFile: folder.path + "/e", encoding: .utf8).hasPrefix(
                "{\"id\":3,\"r\":\"x\"}\n{\"id\":4,\"n\":1.5}\n"))
        for message in [
            "3: column r: expected a number, got \"x\"", "4: column n: expected an integer, got 1.5",
            "5: column n: expected an integer, got \"\"",
            "6: column ok: expected true or false, got 7", "7: column ok: expected true or false, got \"maybe\"",
            "8: column d: expected a date",
        ] { #expect(result.errors.contains("a.jsonl:\(message)"), "\(result.errors)") }
        let kept = "SELECT group_concat(quote(r) || quote(n) || quote(ok) || quote(d) || quote(t) || quote(x), ' ') AS it FROM t"
        #expect(try rows(folder, kept) == "{\"it\":\"1.51215'true''12' 1.031'2020-01-01''1.5''a'\"}\n")
    }

    @Test func `the file for invalid rows must not overwrite an input file or a database`() throws {
        let folder = try TestFolder(["a.csv": "n\n1\nx\n"])
        #expect(
            try folder.perilune("run", "--database", "x.sqlite", "-e", "db:execute[[CREATE TABLE t (n INTEGER)]]").status == 0)
        for (file, message) in [
            ("./a.csv", "refusing to overwrite ./a.csv: it is a file that is read"),
            ("x.sqlite", "refusing to overwrite x.sqlite: it is a database"),
            ("none/e", "cannot write none/e: No such file or directory"),
        ] {
            let result = try folder.perilune("import", "a.csv", "--table", "t", "--database", "x.sqlite", "--errors", file)
            #expect(result.status == 74 && result.errors.contains(message), "\(result.errors)")
        }
        #expect(try rows(folder, "SELECT count(*) AS n FROM t") == "{\"n\":0}\n")
    }

    @Test func `a key that no file contains is reported with the nearest name`() throws {
        let folder = try TestFolder(["b.csv": "isbn,n\na,1\n"])
        #expect(
            try folder.perilune("run", "--database", "x.sqlite", "-e", "db:execute[[CREATE TABLE t (isbn TEXT PRIMARY KEY, n)]]")
                .status == 0)
        let result = try folder.perilune(
            "import", "b.csv", "--table", "t", "--database", "x.sqlite", "--upsert", "--primary-key", "isbm")
        #expect(result.status == 1 && result.errors.contains("did you mean `isbn`? available: isbn, n"), "\(result.errors)")
    }

    @Test(arguments: [
        ("[]", "it has no rows"), ("[{}]", "it has no fields"), ("[{\"a\":01}]", "expected a value"),
        ("[{\"a\":-}]", "expected a value"),
    ])
    func `input without columns does not create a database`(text: String, message: String) throws {
        let folder = try TestFolder(["a.json": text])
        let result = try folder.perilune("import", "a.json", "--table", "t", "--create", "--database", "x.sqlite")
        #expect(result.status != 0 && result.errors.contains(message), "\(result.errors)")
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/x.sqlite"))
    }

    @Test func `a failed import does not leave an empty database`() throws {
        let folder = try TestFolder(["a.csv": "a,b\n1,2\n3\n", "b.json": "[{\"a\":true},{\"a\":\"yes\"}]"])
        #expect(try folder.perilune("import", "a.csv", "--table", "t", "--create", "--database", "x.sqlite").status == 65)
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/x.sqlite"))
        #expect(try folder.perilune("import", "b.json", "--table", "t", "--create", "--database", "x.sqlite").status == 0)
        #expect(try rows(folder, "SELECT * FROM t") == "{\"a\":\"true\"}\n{\"a\":\"yes\"}\n")
    }
}
