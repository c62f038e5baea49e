import PeriluneLua
import Testing

@Suite struct ConvertibleTests {
    private let state: LuaState

    init() throws {
        state = try LuaState()
    }

    private func message(_ body: () throws -> Void) -> String? {
        #expect(throws: LuaError.self, performing: body)?.message
    }

    @Test func `floats become integers only if they are whole`() throws {
        #expect(try Int.fromLua(3.0) == 3)
        #expect(message { _ = try Int.fromLua(3.5) }?.contains("got 3.5") == true)
        for number in [Double.nan, .infinity, -.infinity, 1e300, 0x1p63] {
            #expect(throws: LuaError.self) { try Int64.fromLua(.number(number)) }
        }
        #expect(try Int64.fromLua(.number(-0x1p63)) == .min)
    }

    @Test func `a number that does not fit a smaller integer type is an error with the range`() {
        #expect(message { _ = try UInt8.fromLua(256) } == "expected an integer from 0 to 255, got 256")
        #expect(message { _ = try UInt64.fromLua(-1) }?.contains("got -1") == true)
        #expect(message { _ = try Int16.fromLua(40000) }?.contains("-32768 to 32767") == true)
    }

    @Test func `unsigned integers beyond 63 bits cannot be converted to Lua`() throws {
        #expect(try UInt64(Int64.max).toLua(in: state) == .integer(.max))
        #expect(message { _ = try UInt64.max.toLua(in: state) } == "18446744073709551615 is out of range for an integer in Lua")
    }

    @Test func `strings and numbers are not converted into each other`() {
        #expect(message { _ = try Int.fromLua("1") } == "expected an integer, got the string \"1\"")
        #expect(message { _ = try Double.fromLua("1") } == "expected a number, got the string \"1\"")
        #expect(message { _ = try String.fromLua(1) } == "expected a string, got the integer 1")
        #expect(message { _ = try Bool.fromLua(0) } == "expected a boolean, got the integer 0")
    }

    @Test func `a Swift string requires UTF-8, and a LuaString does not`() throws {
        let bytes = LuaValue.string(LuaString([0xFF]))
        #expect(message { _ = try String.fromLua(bytes) } == "expected a string of valid UTF-8")
        #expect(try LuaString.fromLua(bytes).bytes == [0xFF])
    }

    @Test func `an optional accepts nil`() throws {
        #expect(try Int?.fromLua(nil) == nil)
        #expect(try Int?.fromLua(1) == 1)
        #expect(message { _ = try Int?.fromLua("x") } == "expected an integer or nil, got the string \"x\"")
        #expect(message { _ = try UInt8?.fromLua(300) } == "expected an integer from 0 to 255, got 300")
    }

    @Test func `arrays become lists that start at 1`() throws {
        let table = try ["a", "b"].toLua(in: state)
        #expect(try state.load("local t = ...; return t[1] .. t[2] .. #t")(table) == "ab2")
        #expect(try state.evaluate("return {1, 2, 3}") == [1, 2, 3])
        #expect(
            message { _ = try self.state.evaluate("return {1, 'x'}", as: [Int].self) }
                == "element 2: expected an integer, got the string \"x\"")
    }

    @Test func `dictionaries become tables with string keys`() throws {
        let table = try ["a": 1, "b": 2].toLua(in: state)
        #expect(try state.load("local t = ...; return t.a + t.b")(table) == 3)
        #expect(try state.evaluate("return {x = 1.5}") == ["x": 1.5])
        #expect(
            message { _ = try self.state.evaluate("return {x = 'y'}", as: [String: Int].self) }
                == "field x: expected an integer, got the string \"y\"")
        #expect(throws: LuaError.self) { try self.state.evaluate("return {1}", as: [String: Int].self) }
    }
}
