import Foundation
import Perilune
import Testing

/// Values that scripts exchange with Swift functions. They must be converted or refused with an error, and never crash the
/// process.
@Suite struct ConversionTests {
    private enum Color: Int, Codable { case red = 1, blue = 255 }
    private enum Tiny: Int8, Codable { case greatest = 127 }
    private enum Word: String, Codable { case a, b }

    private struct Everything: Codable {
        var i8: Int8?, i16: Int16?, i32: Int32?, i64: Int64?, i128: Int128?, u8: UInt8?, u16: UInt16?, u32: UInt32?, u64: UInt64?
        var u128: UInt128?, float: Float?, double: Double?, decimal: Decimal?, duration: Duration?, date: Date?, color: Color?
        var tiny: Tiny?, word: Word?, bool: Bool?, string: String?, bytes: [UInt8]?, data: Data?, list: [Int8]?,
            map: [String: UInt8]?
        var numbers: [Int: Int]?, url: URL?, uuid: UUID?, range: Range<Int>?, closed: ClosedRange<Int8>?, interval: DateInterval?
        var components: DateComponents?, indexes: IndexSet?, characters: CharacterSet?, zone: TimeZone?, path: IndexPath?,
            set: Set<Int8>?
        var lanes: SIMD4<Int8>?, nested: [[UInt8?]]?

        static let names = [
            "i8", "i16", "i32", "i64", "i128", "u8", "u16", "u32", "u64", "u128", "float", "double", "decimal", "duration",
            "date",
            "colour", "tiny", "word", "bool", "string", "bytes", "data", "list", "map", "numbers", "url", "uuid", "range",
            "closed",
            "interval", "components", "indexes", "characters", "zone", "path", "set", "lanes", "nested",
        ]
    }

    /// The value in Lua.
    private static let values = [
        "0", "-0.0", "-1", "1.5", "127", "128", "-128", "-129", "255", "256", "32768", "65536", "1 << 31", "1 << 32",
        "(1 << 53) + 1",
        "math.maxinteger", "math.mininteger", "2.0^63", "-2.0^63", "2.0^64", "2.0^127", "2.0^128", "1e39", "1e300", "-1e300",
        "5e-324",
        "1/0", "-1/0", "0/0", "true", "'1'", "''", "'1e400'", "('9'):rep(400)", "'\\xff'", "('x'):rep(1 << 20)", "{}", "{ 1, 2 }",
        "{ -1, 256 }", "{ 5, 1 }", "{ math.mininteger, math.maxinteger }", "{ math.maxinteger, math.maxinteger }",
        "{ [math.maxinteger] = 1 }", "{ [1] = 1, [3] = 3 }", "{ a = 300 }", "{ [1.5] = 1 }", "{ 1, 2, 3, 400 }", "{ { 300 } }",
        "{ indexes = { { location = 1, length = math.maxinteger } } }", "{ indexes = { { location = 5, length = -3 } } }",
        "{ indexes = { 1, math.mininteger } }", "{ bitmap = ('x'):rep(9000) }",
        "{ start = perilune.date('2026-01-01'), duration = -5 }",
        "{ exponent = 1 << 30, length = 99, isNegative = true, isCompact = false, mantissa = { 1, 2, 3, 4, 5, 6, 7, 8 } }",
        "{ year = math.maxinteger, month = math.mininteger }", "{ identifier = 'nowhere' }", "print", "db", "perilune.null",
        "perilune.date('2026-01-01')", "setmetatable({}, { __index = error })",
    ]

    @Test(arguments: ScriptPlace.allCases)
    func `every Lua value is converted for a Swift parameter or refused with an argument error`(_ place: ScriptPlace)
        async throws
    {
        let host = try await place.host(ScriptHost.Configuration(database: .inMemory()))
        try await host.register(module: "swift") { m in
            m.function("take") { (value: Everything) in value }
        }
        let refusals: Int = try await host.run(
            source: """
                local take, refusals = require("swift").take, 0
                for _, name in ipairs(...) do
                  for _, text in ipairs(select(2, ...)) do
                    local value = load("return " .. text, text)()
                    local ok, err = pcall(take, { [name] = value })
                    if not ok then
                      refusals = refusals + 1
                      assert(err.kind == "conversion" or err.kind == "argument", name .. " " .. text .. ": " .. tostring(err.kind))
                      assert(err.message:find("swift.take: argument 1: " .. name, 1, true) or err.message:find("the result", 1, true),
                        text .. ": " .. err.message)
                    end
                  end
                end
                return refusals
                """, arguments: Everything.names, Self.values)
        #expect(refusals > Everything.names.count * Self.values.count / 2)
    }

    @Test(
        arguments: ScriptPlace.allCases,
        [
            ("seconds(1.5)", "1.5"), ("seconds(-3)", "-3.0"), ("seconds(2^63)", "9.2233720368548e+18"),
            ("decimal(12)", "12"), ("decimal('12.50')", "12.5"), ("decimal(0.1)", "0.1"),
            ("decimal(math.mininteger)", "\(Int64.min)"),
            ("url('https://example.com/a?b=c')", "https://example.com/a?b=c"), ("great(7)", "7"), ("great('x')", nil),
            ("seconds(0/0)", nil), ("seconds(1e30)", nil), ("seconds({ 1, 2 })", nil), ("decimal('1.5x')", nil),
            ("decimal(1/0)", nil),
            ("decimal('12345678901234567890.12')", "12345678901234567890.12"), ("url('')", nil), ("url(5)", nil),
            ("greatest()", nil), ("unsigned()", nil),
            ("date(86400)", "1970-01-02 00:00:00.000"), ("date('2026-03-31')", "2026-03-31 00:00:00.000"), ("date(0/0)", nil),
            ("indexes()", nil), ("characters()", nil), ("far()", nil), ("nowhere()", nil),
        ])
    func `Foundation values are converted to natural Lua values, or refused`(
        _ place: ScriptPlace, _ values: (String, String?)
    ) async throws {
        let (call, text) = values
        let host = try await place.host(ScriptHost.Configuration(database: .inMemory()))
        try await host.register(module: "swift") { m in
            m.function("seconds") { (duration: Duration) in duration }
            m.function("decimal") { (decimal: Decimal) in decimal }
            m.function("url") { (url: URL) in url }
            m.function("great") { (number: UInt128) in number }
            m.function("greatest") { Int128.max }
            m.function("unsigned") { UInt64.max }
            m.function("indexes") { IndexSet(0..<3) }
            m.function("characters") { CharacterSet.letters }
            m.function("far") { Date.distantFuture.addingTimeInterval(1e15) }
            m.function("date") { (date: Date) in date }
            m.function("nowhere") { Date(timeIntervalSince1970: .nan) }
        }
        let source = "local swift = require 'swift' return tostring(swift.\(call))"
        guard let text else {
            let error = await #expect(throws: LuaError.self) { try await host.run(source: source) }
            #expect(error?.message.hasPrefix("script:1: swift.") == true || error?.message.hasPrefix("swift.") == true)
            return
        }
        #expect(try await host.run(source: source) as String == text)
    }

    @Test(arguments: ScriptPlace.allCases)
    func `perilune.null becomes nil and a blob becomes its bytes if Swift expects plain values`(
        _ place: ScriptPlace
    ) async throws {
        struct Letter: Codable {
            let to: String?
            let body: Data
        }
        let host = try await place.host(ScriptHost.Configuration(database: .inMemory()))
        try await host.register(module: "mail") { mail in
            mail.function("send") { (letter: Letter) in "\(letter.to ?? "nobody") \(letter.body.count)" }
            mail.function("name") { (name: String?) in name ?? "none" }
            mail.function("count") { (bytes: [UInt8]) in bytes.count }
        }
        let texts: [String] = try await host.run(
            source: """
                local mail = require "mail"
                local null = perilune.null
                return {
                  mail.send{ to = null, body = perilune.blob("a\\0b") }, mail.name(null), mail.name(perilune.blob("x")),
                  tostring(mail.count(perilune.blob("\\xff\\0"))), select(2, pcall(mail.count, null)).message,
                }
                """)
        #expect(texts.prefix(4) == ["nobody 3", "none", "x", "2"])
        #expect(texts[4].contains("mail.count: argument 1"), "\(texts[4])")
    }
}
