import Testing

@testable import Perilune

@Suite struct DisplayTextTests {
    @Test(arguments: [
        ("", 0), ("abc", 3), ("é", 1), ("e\u{301}", 1), ("日本語", 6), ("한", 2), ("ｱ", 1), ("Ａ", 2), ("👍", 2), ("👍🏽", 2),
        ("🇵🇹", 2), ("👩‍💻", 2), ("❤", 1), ("❤️", 2), ("\u{301}", 0), ("ก็", 1), ("→", 1), ("─", 1),
    ])
    func `the width of text counts terminal columns`(text: String, width: Int) {
        #expect(DisplayText.width(text) == width)
    }

    @Test(
        arguments: [
            (Array("plain".utf8), "plain"), (Array("é日".utf8), "é日"), ([0xC0, 0x80], #"\xC0\x80"#),
            ([0xED, 0xA0, 0x80], #"\xED\xA0\x80"#), ([0xF4, 0x90, 0x80, 0x80], #"\xF4\x90\x80\x80"#),
            ([0xE2, 0x82], #"\xE2\x82"#), ([0xE0, 0x80, 0x80], #"\xE0\x80\x80"#), ([0xC2, 0x85], #"\u{85}"#),
            ([0xF0, 0x9F, 0x91, 0x8D], "👍"), ([0x7F], #"\x7F"#), ([0xEF, 0xBB, 0xBF], #"\u{FEFF}"#),
        ] as [([UInt8], String)])
    func `only safe characters are displayed unchanged`(bytes: [UInt8], text: String) {
        #expect(DisplayText.escaped(bytes) == text)
    }

    /// With quadratic time this would take hours.
    @Test func `long texts in which every character is escaped are shown completely`() {
        #expect(DisplayText.escaped(Array(repeating: 0, count: 1_000_000)).utf8.count == 4_000_000)
        #expect(DisplayText.escaped(Array(repeating: 0xFF, count: 1_000_000)) == String(repeating: #"\xFF"#, count: 1_000_000))
    }

    @Test func `line breaks in displayed text can be kept`() {
        #expect(DisplayText.escaped("a\nb\r", keepingLineBreaks: true) == "a\nb\\r")
    }
}
