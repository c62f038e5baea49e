import PeriluneLua
import Testing

@Suite struct ValueTests {
    private let state: LuaState
    private let echo: LuaFunction

    init() throws {
        state = try LuaState()
        echo = try state.load("return ...")
    }

    private func returned(_ value: LuaValue) throws -> LuaValue? {
        try echo.call([value]).first
    }

    @Test(arguments: [0, 1, -1, .max, .min, (1 << 53) + 1, -(1 << 53) - 1] as [Int64])
    func `integers keep all 64 bits between Swift and Lua`(integer: Int64) throws {
        guard case .integer(let result)? = try returned(.integer(integer)) else {
            Issue.record("not an integer")
            return
        }
        #expect(result == integer)
        let text: String = try state.load("return string.format('%d', ...)")(integer)
        #expect(text == "\(integer)")
    }

    @Test(arguments: [0.1, -0.0, 1e308, .leastNonzeroMagnitude, .infinity, -.infinity, 1, 0x1p63] as [Double])
    func `floats keep their bits and their type`(number: Double) throws {
        guard case .number(let result)? = try returned(.number(number)) else {
            Issue.record("not a float")
            return
        }
        #expect(result.bitPattern == number.bitPattern)
        #expect(try state.load("return math.type(...)")(number) == "float")
    }

    @Test func `NaN stays NaN and does not equal itself`() throws {
        let result = try #require(try returned(.number(.nan)))
        #expect(result != result)
        #expect(try state.load("local n = ...; return n ~= n")(Double.nan) == true)
    }

    @Test func `booleans and nil are unchanged between Swift and Lua`() throws {
        #expect(try returned(true) == true)
        #expect(try returned(false) == false)
        #expect(try returned(nil) == .nil)
        #expect(try state.load("return select('#', ...)")(Int?.none, Int?.none) == 2)
    }

    @Test(arguments: [[], [0], [0, 65, 0], [0xFF, 0xFE], [0xC3, 0x28], Array("grüß".utf8)] as [[UInt8]])
    func `strings keep every byte between Swift and Lua`(bytes: [UInt8]) throws {
        #expect(try returned(.string(LuaString(bytes))) == .string(LuaString(bytes)))
        #expect(try state.load("return #...")(LuaString(bytes)) == bytes.count)
    }

    @Test func `a string of several megabytes is unchanged`() throws {
        let bytes = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        #expect(try returned(.string(LuaString(bytes))) == .string(LuaString(bytes)))
    }

    @Test func `a Lua string that is not UTF-8 has a description but no Swift string`() {
        let string = LuaString([0x61, 0xFF])
        #expect(string.string == nil)
        #expect(string.description == "a\u{FFFD}")
    }

    @Test func `0 and the empty string are truthy`() {
        #expect(LuaValue.integer(0).isTruthy)
        #expect(LuaValue.string("").isTruthy)
        #expect(!LuaValue.boolean(false).isTruthy)
        #expect(!LuaValue.nil.isTruthy)
    }

    @Test func `integers and floats are equal if they represent the same number`() {
        #expect(LuaValue.integer(3) == .number(3))
        #expect(LuaValue.integer(3) != .number(3.5))
        #expect(LuaValue.integer(.max) != .number(0x1p63))
        #expect(LuaValue.integer(0) != .number(.nan))
        #expect(LuaValue.integer(1) != "1")
    }

    @Test func `handles are equal if they refer to the same Lua object`() throws {
        let table = try state.makeTable()
        #expect(try returned(.table(table)) == .table(table))
        #expect(try LuaValue.table(state.makeTable()) != .table(table))
        let values = try state.run("local f, c = function() end, coroutine.create(print); return f, f, c, c, print")
        #expect(values[0] == values[1])
        #expect(values[2] == values[3])
        #expect(values[0] != values[4])
    }

    @Test func `each Lua type has a name with an article`() throws {
        let values = try state.run("return nil, true, 1, 1.5, 's', {}, print, coroutine.create(print)")
        #expect(
            values.map(\.typeName) == [
                "nil", "a boolean", "an integer", "a float", "a string", "a table", "a function", "a coroutine",
            ])
    }
}
