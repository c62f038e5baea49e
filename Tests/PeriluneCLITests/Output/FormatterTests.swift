import Testing

@testable import PeriluneCLI

@Suite struct FormatterTests {
    private let columns = ["id", "name"]
    private let rows: [[Cell]] = [
        [.integer(1), .text(Array("Ana".utf8))],
        [.integer(22), .null],
        [.integer(-3), .text([])],
    ]

    private func format(_ format: ResultFormat, _ columns: [String], _ rows: [[Cell]]) -> String {
        String(decoding: format.format(columns: columns, rows: rows), as: UTF8.self)
    }

    @Test func `a table has a frame, right-aligned numbers, and a visible NULL`() {
        #expect(
            format(.table, columns, rows) == """
                ┌────┬──────┐
                │ id │ name │
                ├────┼──────┤
                │  1 │ Ana  │
                │ 22 │ NULL │
                │ -3 │      │
                └────┴──────┘

                """)
    }

    @Test func `a table without rows shows its columns`() {
        #expect(format(.table, ["a"], []) == "┌───┐\n│ a │\n├───┤\n└───┘\n")
    }

    @Test func `wide characters and combining marks stay aligned in a table`() {
        let rows: [[Cell]] = ["日本", "e\u{301}", "👩‍👩‍👧", "❤️", "abcd"].map { [.text(Array($0.utf8))] }
        #expect(
            format(.table, ["x"], rows) == """
                ┌──────┐
                │ x    │
                ├──────┤
                │ 日本 │
                │ e\u{301}    │
                │ 👩‍👩‍👧   │
                │ ❤️   │
                │ abcd │
                └──────┘

                """)
    }

    @Test func `a table escapes text that could harm a terminal`() {
        let text: [UInt8] = Array("a\u{1B}[31m\n\t\0\u{202E}".utf8) + [0xFF, 0xC3]
        let output = format(.table, ["x\n"], [[.text(text)]])
        #expect(output.contains(#"│ a\x1B[31m\n\t\x00\u{202E}\xFF\xC3 │"#))
        #expect(output.contains(#"│ x\n"#))
    }

    @Test func `a colored table shows NULL dimmed`() {
        let output = ResultFormat.table.format(columns: ["a"], rows: [[.null]], colors: Colors(isOn: true))
        #expect(String(decoding: output, as: UTF8.self).contains("\u{1B}[2mNULL\u{1B}[0m"))
    }

    @Test func `CSV has quotes only where needed, and lines that end with LF`() {
        let rows: [[Cell]] = [
            [.text(Array("a,b".utf8)), .text(Array("say \"x\"".utf8))], [.text(Array("a\nb".utf8)), .text([])],
            [.null, .boolean(true)], [.blob([0, 255]), .real(0.1)],
        ]
        #expect(
            format(.csv, ["x", "y,z"], rows)
                == "x,\"y,z\"\n\"a,b\",\"say \"\"x\"\"\"\n\"a\nb\",\"\"\n,1\nx'00ff',0.1\n")
    }

    @Test func `CSV keeps bytes that are not UTF-8`() {
        let output = ResultFormat.csv.format(columns: ["x"], rows: [[.text([0xFF, 0])]])
        #expect(output == [UInt8(ascii: "x"), 10, 0xFF, 0, 10])
    }

    @Test func `JSON is an array of objects`() {
        #expect(
            format(.json, columns, rows) == """
                [{"id":1,"name":"Ana"},
                {"id":22,"name":null},
                {"id":-3,"name":""}]

                """)
        #expect(format(.json, columns, []) == "[]\n")
    }

    @Test func `JSON Lines output is lossless`() {
        let rows: [[Cell]] = [
            [.integer(.min), .integer(.max), .real(0.1 + 0.2), .real(-.infinity), .real(.leastNonzeroMagnitude)],
            [.boolean(false), .blob([0, 1, 254, 255]), .text([0xFF]), .text(Array("\"\\\n\u{1}é".utf8)), .real(1)],
        ]
        #expect(
            format(.jsonl, ["a", "b", "c", "d", "e"], rows) == #"""
                {"a":-9223372036854775808,"b":9223372036854775807,"c":0.30000000000000004,"d":-9e999,"e":5e-324}
                {"a":false,"b":{"$blob":"AAH+/w=="},"c":{"$text":"/w=="},"d":"\"\\\n\u0001é","e":1.0}

                """#)
    }

    @Test func `columns with the same name get different keys in JSON`() {
        let row: [Cell] = [.integer(1), .integer(2), .integer(3), .integer(4)]
        #expect(format(.jsonl, ["a", "a", "a_2", "a"], [row]) == #"{"a":1,"a_3":2,"a_2":3,"a_4":4}"# + "\n")
    }

    @Test func `Markdown escapes pipes and markup`() {
        let rows: [[Cell]] = [[.integer(1), .text(Array("a|b\\\n<i>*`".utf8))], [.integer(20), .null]]
        #expect(
            format(.markdown, ["n", "x|y"], rows) == #"""
                |   n | x\|y               |
                | --: | ------------------ |
                |   1 | a\|b\\<br>\<i>\*\` |
                |  20 | NULL               |

                """#)
    }

    @Test func `the line format aligns column names and separates rows`() {
        #expect(
            format(.line, ["id", "title"], [[.integer(1), .null], [.real(1.5), .blob([171])]]) == """
                   id = 1
                title = NULL

                   id = 1.5
                title = x'ab'

                """)
    }

    @Test(
        arguments: [
            ([], ""), ([102], "Zg=="), ([102, 111], "Zm8="), ([102, 111, 111], "Zm9v"),
            (Array("foobar".utf8), "Zm9vYmFy"),
            ([255, 255, 255, 254], "////" + "/g=="),
        ] as [([UInt8], String)])
    func `base64 follows RFC 4648`(bytes: [UInt8], text: String) {
        #expect(String(decoding: CellText.base64(bytes), as: UTF8.self) == text)
    }

    @Test func `the default format is a table on a terminal and JSON Lines elsewhere`() {
        #expect(ResultFormat.standard(isTerminal: true) == .table)
        #expect(ResultFormat.standard(isTerminal: false) == .jsonl)
    }
}
