import Testing

@testable import PeriluneRecords

@Suite struct SQLScannerTests {
    /// Returns a token as the letter of its kind and its text, with `!` at the end if it is unterminated.
    private func tokens(_ sql: [UInt8]) -> [String] {
        sql.withUnsafeBufferPointer { bytes in
            SQLScanner(bytes).map { token in
                let letter = Self.letters[token.kind]!
                return letter + String(decoding: bytes[token.range], as: UTF8.self) + (token.isClosed ? "" : "!")
            }
        }
    }

    private static let letters: [SQLToken.Kind: String] = [
        .blank: "_", .comment: "c", .word: "w", .name: "n", .string: "s", .blob: "b", .number: "d", .parameter: "p", .sign: "o",
        .flaw: "x",
    ]

    private func solid(_ sql: String) -> [String] {
        tokens(Array(sql.utf8)).filter { !$0.hasPrefix("_") && !$0.hasPrefix("c") }
    }

    @Test(arguments: [
        ("SELECT a$1, é FROM _t", ["wSELECT", "wa$1", "o,", "wé", "wFROM", "w_t"]),
        ("'it''s' \"a\"\"b\" `c``d` [e\"f]]", ["s'it''s'", "n\"a\"\"b\"", "n`c``d`", "n[e\"f]", "x]"]),
        ("'a' 'b' '''' ''", ["s'a'", "s'b'", "s''''", "s''"]),
        ("x'0aF' X'' x'zz' xa'1' x", ["bx'0aF'", "bX''", "bx'zz'", "wxa", "s'1'", "wx"]),
        (
            "1 1.5 .5 1. 1e5 1e+5 1.5E-3 1e 0x1Fg 1a $ .",
            ["d1", "d1.5", "d.5", "d1.", "d1e5", "d1e+5", "d1.5E-3", "d1e", "d0x1F", "wg", "d1a", "x$", "o."]
        ),
        (
            "? ?12 ?1a :a @b $c #d :a$b $a::b::c $a(x,'y) :a( b)",
            [
                "p?", "p?12", "p?1", "wa", "p:a", "p@b", "p$c", "p#d", "p:a$b", "p$a::b::c", "p$a(x,'y)", "x:a(", "wb", "o)",
            ]
        ),
        (": @ :: :::a a:b a$b", ["x:", "x@", "x:", "x:", "p:::a", "wa", "p:b", "wa$b"]),
        (
            "a->b ->> c - > d==e=f<=g<>h<<i<j>=k>>l>m!=n||o|p&q~r",
            [
                "wa", "o->", "wb", "o->>", "wc", "o-", "o>", "wd", "o==", "we", "o=", "wf", "o<=", "wg", "o<>", "wh", "o<<", "wi",
                "o<", "wj",
                "o>=", "wk", "o>>", "wl", "o>", "wm", "o!=", "wn", "o||", "wo", "o|", "wp", "o&", "wq", "o~", "wr",
            ]
        ),
        ("! ^ \\ {", ["x!", "x^", "x\\", "x{"]),
        ("a--b\nc/*d\n*/e", ["wa", "wc", "we"]),
        ("/", ["o/"]), ("-", ["o-"]), ("--", []), ("", []), ("a\u{FEFF}b \u{FEFF}c", ["wa\u{FEFF}b", "wc"]),
    ])
    func `SQL text is split into the same tokens as in SQLite`(_ sql: String, _ expected: [String]) {
        #expect(solid(sql) == expected)
    }

    @Test(arguments: [
        ("'a", ["s'a!"]), ("'a''", ["s'a''!"]), ("\"a", ["n\"a!"]), ("[a", ["n[a!"]), ("x'1", ["bx'1!"]), ("/*", ["c/*!"]),
        ("/*a", ["c/*a!"]), ("/*/", ["c/*/!"]),
        ("/**/a", ["c/**/", "wa"]), ("/***/a", ["c/***/", "wa"]), ("--a", ["c--a"]), ("--a\nb", ["c--a", "_\n", "wb"]),
    ])
    func `an unterminated SQL token extends to the end of the text`(_ sql: String, _ expected: [String]) {
        #expect(tokens(Array(sql.utf8)) == expected)
    }

    @Test func `a vertical tab is whitespace only after other whitespace`() {
        #expect(tokens(Array("a \u{B}b".utf8)) == ["wa", "_ \u{B}", "wb"])
        #expect(tokens(Array("a\u{B}b".utf8)) == ["wa", "x\u{B}", "wb"])
    }

    @Test func `SQL text ends at a NUL byte`() {
        #expect(tokens([0x61, 0, 0x62]) == ["wa"])
        #expect(tokens([0x27, 0x61, 0, 0x27]) == ["s'a!"])
        #expect(tokens([0]) == [])
    }

    @Test(arguments: [
        ("a", "a"), ("\"a\"\"b\"", "a\"b"), ("'it''s'", "it's"), ("[a\"\"]", "a\"\""), ("`x``y`", "x`y"), ("''", ""),
        ("\"\"\"\"\"\"", "\"\""),
    ])
    func `SQL names are read without their quotes`(_ sql: String, _ expected: String) {
        let name = Array(sql.utf8).withUnsafeBufferPointer { bytes in
            var scanner = SQLScanner(bytes)
            return scanner.next().flatMap(scanner.name)
        }
        #expect(name == expected)
    }

    @Test func `arbitrary bytes are split into tokens without gaps`() {
        var random = SystemRandomNumberGenerator()
        let telling = Array("'\"`[]-/*;:@$#?x0.e+(a)_ \n=<>|!".utf8)
        for _ in 0..<20_000 {
            let bytes = (0..<Int.random(in: 0...24, using: &random)).map { _ in
                Bool.random(using: &random) ? telling.randomElement(using: &random)! : UInt8.random(in: 1...255, using: &random)
            }
            let ranges = bytes.withUnsafeBufferPointer { SQLScanner($0).map(\.range) }
            #expect(ranges.flatMap { $0 } == Array(bytes.indices), "\(bytes)")
        }
    }

    @Test func `unterminated SQL text is scanned in linear time`() {
        // Each of these texts would take quadratic time if the scanner searched repeatedly.
        for part in ["'", "\"", "[", "/*", "x'", "$a(", "''", ":", "((", "1e", "--"] {
            let sql = Array(String(repeating: part, count: 200_000).utf8)
            let clock = ContinuousClock()
            let time = clock.measure { sql.withUnsafeBufferPointer { bytes in for _ in SQLScanner(bytes) {} } }
            #expect(time < .seconds(60), "\(part)")
        }
    }
}
