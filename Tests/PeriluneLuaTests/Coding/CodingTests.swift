import Foundation
import PeriluneLua
import Testing

private struct Order: Codable, Equatable {
    struct Line: Codable, Equatable {
        var name: String
        var price: Double
        var count: Int?
    }

    enum State: String, Codable { case open, paid }

    var id: Int64
    var state: State
    var lines: [Line]
    var notes: [String: String]
    var parent: Box?
}

private final class Box: Codable, Equatable {
    var inner: Box?
    var value: Int

    init(_ value: Int, _ inner: Box? = nil) {
        self.value = value
        self.inner = inner
    }

    static func == (left: Box, right: Box) -> Bool { left.value == right.value && left.inner == right.inner }
}

private indirect enum Shape: Codable, Equatable {
    case point
    case circle(radius: Double)
    case group([Shape], String)
}

private class Animal: Codable {
    var name = "?"
}

private final class Dog: Animal {
    var tricks: [String] = []

    private enum Key: CodingKey { case tricks }

    override init() { super.init() }

    required init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        tricks = try container.decode([String].self, forKey: .tricks)
        try super.init(from: container.superDecoder())
    }

    override func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try super.encode(to: container.superEncoder())
        try container.encode(tricks, forKey: .tricks)
    }
}

@Suite struct CodingTests {
    private let state: LuaState

    init() throws {
        state = try LuaState()
    }

    private func roundTrip<Value: Codable>(_ value: Value) throws -> Value {
        try LuaDecoder().decode(Value.self, from: state.encode(value))
    }

    private func decode<Value: Decodable>(_ type: Value.Type, _ source: String) throws -> Value {
        try LuaDecoder().decode(type, from: try #require(state.run("return " + source).first))
    }

    private func message<Value: Decodable>(_ type: Value.Type, _ source: String) -> String? {
        #expect(throws: LuaError.self) { try self.decode(type, source) }?.message
    }

    /// Returns Lua's representation of an encoded value.
    private func inLua(_ value: some Encodable, _ source: String) throws -> LuaValue {
        try state.load("local v = ... return " + source).call([state.encode(value)]).first ?? .nil
    }

    // MARK: - Both ways

    @Test func `structures, lists, dictionaries and enums round-trip`() throws {
        let order = Order(
            id: .max, state: .paid, lines: [.init(name: "tea", price: 2.5, count: 3), .init(name: "\0ß", price: 1, count: nil)],
            notes: ["7": "seven", "a b": ""], parent: Box(1, Box(2)))
        #expect(try roundTrip(order) == order)
        let shape = Shape.group([.point, .circle(radius: 1.5), .group([], "x")], "y")
        #expect(try roundTrip(shape) == shape)
        #expect(try roundTrip([1: ["a"], -2: []]) == [1: ["a"], -2: []])
        #expect(try roundTrip([Order.State.open: 1]) == [.open: 1])
        #expect(try roundTrip([[1, 2], [], [3]]) == [[1, 2], [], [3]])
        #expect(try roundTrip([0.5: true]) == [0.5: true])
        #expect(try roundTrip(Set([1, 2])) == [1, 2])
        #expect(try roundTrip(Date(timeIntervalSince1970: 1.25)) == Date(timeIntervalSince1970: 1.25))
        #expect(try roundTrip(UUID(uuidString: "9F7C5B7E-3C6E-4D3F-9A57-0123456789AB")!).uuidString.hasPrefix("9F7C"))
    }

    @Test func `classes with superclasses round-trip`() throws {
        let dog = Dog()
        dog.name = "Rex"
        dog.tricks = ["sit"]
        let copy = try roundTrip(dog)
        #expect(copy.name == "Rex")
        #expect(copy.tricks == ["sit"])
        #expect(try inLua(dog, "v.super.name") == "Rex")
    }

    @Test func `single values are encoded without a table`() throws {
        #expect(try roundTrip(5) == 5)
        #expect(try roundTrip("x") == "x")
        #expect(try roundTrip(Int?.none) == nil)
        #expect(try roundTrip(Order.State.paid) == .paid)
        #expect(try state.encode(true) == true)
    }

    @Test func `integers stay integers and floats floats`() throws {
        #expect(try inLua(["a": 1], "math.type(v.a)") == "integer")
        #expect(try inLua(["a": 1.0], "math.type(v.a)") == "float")
        #expect(try roundTrip([Int64.min, .max]) == [.min, .max])
        #expect(try roundTrip([UInt8.max]) == [255])
        #expect(try roundTrip(UInt64(Int64.max)) == UInt64(Int64.max))
        #expect(try roundTrip([0.1, -0.0, .infinity]).map(\.bitPattern) == [0.1, -0.0, .infinity].map(\.bitPattern))
        #expect(try roundTrip(Double.nan).isNaN)
        #expect(try roundTrip(Float(0.1)) == 0.1)
    }

    @Test func `bytes are encoded as strings`() throws {
        #expect(try state.encode([0, 255] as [UInt8]) == .string(LuaString([0, 255])))
        #expect(try roundTrip([0, 255] as [UInt8]) == [0, 255])
        #expect(try roundTrip(Data([0, 255])) == Data([0, 255]))
        #expect(try inLua(["x": Data("grüß".utf8)], "v.x") == "grüß")
        #expect(try roundTrip(LuaString([0xFF])) == LuaString([0xFF]))
        #expect(try decode([UInt8].self, "{1, 2}") == [1, 2])
    }

    @Test func `nil values are left out of encoded tables`() throws {
        #expect(try inLua(["a": Int?.none, "b": 1], "v.a == nil and v.b") == 1)
        #expect(try inLua(Box(1), "next(v) == 'value' and next(v, 'value') == nil") == true)
        #expect(try decode(Box.self, "{value = 1}") == Box(1))
    }

    @Test func `dictionary keys are strings or integers, depending on their type`() throws {
        #expect(try inLua(["7": 1], "v['7']") == 1)
        #expect(try inLua([7: 1], "v[7]") == 1)
        #expect(message([String: Int].self, "{5}") == "expected string keys, got the key 1")
        #expect(message([Int: Int].self, "{x = 5}") == "expected integer keys, got the key `x`")
        #expect(message([Int: Int].self, "{[1.5] = 5}") == "expected integer keys, got the key 1.5")
        #expect(message([String: Int].self, "{['\\255'] = 5}")?.hasPrefix("expected string keys") == true)
    }

    @Test func `coding keys with integers become integer keys`() throws {
        struct Pair: Codable, Equatable {
            enum CodingKeys: Int, CodingKey { case first = 1, second }
            var first: String
            var second: String
        }
        #expect(try inLua(Pair(first: "a", second: "b"), "v[1] .. v[2]") == "ab")
        #expect(try decode(Pair.self, "{'a', 'b'}") == Pair(first: "a", second: "b"))
        #expect(try decode(Pair.self, "{first = 'a', second = 'b'}") == Pair(first: "a", second: "b"))
    }

    @Test func `an empty table is decoded as a list or a dictionary, as requested`() throws {
        struct Options: Codable, Equatable { var size: Int? }
        #expect(try decode([Int].self, "{}") == [])
        #expect(try decode([String: Int].self, "{}") == [:])
        #expect(try decode([Int: Int].self, "{}") == [:])
        #expect(try decode(Options.self, "{}") == Options())
        #expect(try inLua([String](), "next(v) == nil and getmetatable(v) == nil") == true)
        #expect(try inLua(Options(), "type(v)") == "table")
    }

    @Test func `arrays get the encoder's list metatable`() throws {
        var encoder = LuaEncoder(state: state)
        encoder.arrayMetatable = try state.evaluate("return {__name = 'list'}")
        let value = try encoder.encode(["a": [Int](), "b": [1]])
        #expect(
            try state.load(
                "local v = ... return getmetatable(v.a).__name .. getmetatable(v.b).__name .. tostring(getmetatable(v))"
            )
            .call([value]) == ["listlistnil"])
    }

    @Test func `Lua handles are encoded unchanged`() throws {
        struct Job: Codable {
            var name: LuaString
            var run: LuaFunction
            var options: LuaTable?
            var rest: LuaValue
        }
        let job = try decode(Job.self, "{ name = 'j', run = function(x) return x + 1 end, rest = print }")
        #expect(try job.run(1) == 2)
        #expect(try inLua(job, "v.run(5)") == 6)
        #expect(try inLua(job, "v.rest == print and v.options == nil") == true)
        #expect(throws: (any Error).self) { try JSONEncoder().encode([job.rest]) }
        #expect(throws: (any Error).self) { try JSONDecoder().decode([LuaTable].self, from: Data("[1]".utf8)) }
        #expect(try JSONDecoder().decode([LuaString].self, from: JSONEncoder().encode(["x" as LuaString])) == ["x"])
    }

    @Test func `types can read the coder's user info`() throws {
        struct Probe: Codable {
            init() {}
            init(from decoder: any Decoder) throws {
                if decoder.userInfo[CodingUserInfoKey(rawValue: "k")!] as? Int != 1 { throw HostError() }
            }
            func encode(to encoder: any Encoder) throws {
                if encoder.userInfo[CodingUserInfoKey(rawValue: "k")!] as? Int != 1 { throw HostError() }
                try true.encode(to: encoder)
            }
        }
        var encoder = LuaEncoder(state: state)
        encoder.userInfo[CodingUserInfoKey(rawValue: "k")!] = 1
        var decoder = LuaDecoder()
        decoder.userInfo[CodingUserInfoKey(rawValue: "k")!] = 1
        _ = try encoder.encode([Probe()])
        _ = try decoder.decode([Probe].self, from: .table(LuaTable.fromLua(state.evaluate("return {1}"))))
        let error = #expect(throws: LuaError.self) { try self.state.encode([Probe()]) }
        #expect(error?.underlying as? HostError == HostError())
    }

    // MARK: - Calls

    @Test func `a function is called with encoded arguments and its result is decoded`() throws {
        let function = try state.load(
            "local order, count = ... order.id = order.id + count order.notes.seen = 'yes' return order")
        let order = Order(id: 1, state: .open, lines: [], notes: [:], parent: nil)
        let result = try function.call(decoding: Order.self, order, 5)
        #expect(result.id == 6)
        #expect(result.notes == ["seen": "yes"])
        #expect(
            #expect(throws: LuaError.self) { try function.call(decoding: Int.self, order, 5) }?.message
                == "expected an integer, got a table")
    }

    @Test func `a Swift function decodes its arguments and reports the argument that does not fit`() throws {
        try state.define("book") { [.integer(try $0.decode(1, as: Order.self).id)] }
        #expect(try state.evaluate("return book({id = 4, state = 'open', lines = {}, notes = {}})") == 4)
        #expect(
            try failure(of: "book({id = 4, state = 'open', lines = {{name = 5}}, notes = {}})", in: state).message
                == "book: argument 1: lines[1].name: expected a string, got the integer 5")
    }

    // MARK: - What does not fit

    @Test func `an error begins with the coding path`() {
        let orders = "{orders = {{total = 1.5}, {total = 'x'}}}"
        #expect(message([String: [[String: Double]]].self, orders) == "orders[2].total: expected a number, got the string \"x\"")
        #expect(message([Int: Int].self, "{[42] = 'x'}") == "[42]: expected an integer, got the string \"x\"")
        #expect(message(Order.self, "{id = 1}") == "state: expected a value, got nil")
        #expect(message(Order.Line.self, "{name = 'x'}") == "price: expected a number, got nil")
        #expect(message(Order.Line.self, "5") == "expected a table, got the integer 5")
        #expect(message([Int].self, "'x'") == "expected a list, got the string \"x\"")
        #expect(message(Order.self, "{id = 1, state = 'lost', lines = {}, notes = {}}")?.hasPrefix("state: ") == true)
        #expect(message(Shape.self, "{blob = {}}") != nil)
        #expect(message(UUID.self, "'x'") != nil)
    }

    @Test func `decoding a number that does not fit its type is an error`() {
        #expect(message([Int].self, "{1.5}") == "[1]: expected an integer from \(Int.min) to \(Int.max), got 1.5")
        #expect(message([UInt8: Int].self, "{300, 1}") == "[1]: expected an integer from 0 to 255, got 300")
        #expect(message(Float.self, "1e300") == "expected a 32-bit float, got 1e+300")
        for number in ["0/0", "1/0", "-1/0", "2^64", "1e300", "-1"] {
            #expect(message(UInt64.self, number) != nil)
        }
        #expect(throws: LuaError.self) { try state.encode(["n": UInt64.max]) }
        #expect(
            #expect(throws: LuaError.self) { try state.encode(["n": [UInt64.max]]) }?.message
                == "n[1]: 18446744073709551615 is out of range for an integer in Lua")
    }

    @Test func `decoding a list refuses holes and other keys`() {
        #expect(message([Int].self, "{1, nil, 3}") == "expected a list, got a table with the key 3")
        #expect(message([Int].self, "{1, n = 1}") == "expected a list, got a table with the key `n`")
        #expect(message([Int].self, "{[1 << 62] = 1}") != nil)
        #expect(message([Int].self, "{[-1] = 1}") != nil)
        #expect(
            #expect(throws: LuaError.self) { try state.encode([1, nil, 3]) }?.message
                == "[2]: nil cannot be an element of a list in Lua")
    }

    @Test func `decoding a table that contains itself fails with an error`() throws {
        let cycle = "(function() local t = {value = 1} t.inner = t return t end)()"
        #expect(message(Box.self, cycle)?.contains("nested deeper than 100 levels") == true)
        struct Nested: Decodable { var items: [Nested] }
        #expect(message(Nested.self, "(function() local t = {} t.items = {t, t} return t end)()")?.contains("deeper") == true)
        let deep = "(function() local t = {value = 1} for i = 2, 90 do t = {value = i, inner = t} end return t end)()"
        #expect(try decode(Box.self, deep).value == 90)
    }

    @Test func `encoding objects with circular references ends with an error`() throws {
        let box = Box(1)
        box.inner = box
        #expect(
            #expect(throws: LuaError.self) { try state.encode(box) }?.message.contains("nested deeper than 100 levels") == true)
        box.inner = nil
        let top = state.memoryInBytes
        for _ in 0..<100 { _ = try? state.encode(UInt64.max) }
        #expect(state.memoryInBytes < top + 4096)
    }

    @Test func `types with a wrong encode method cause errors instead of traps`() throws {
        struct Both: Encodable {
            func encode(to encoder: any Encoder) throws {
                var list = encoder.unkeyedContainer()
                try list.encode(1)
                var keyed = encoder.container(keyedBy: Box.CodingKeys.self)
                try keyed.encode(1, forKey: .value)
            }
        }
        struct Twice: Encodable {
            func encode(to encoder: any Encoder) throws {
                var single = encoder.singleValueContainer()
                try single.encode(1)
                try single.encode(2)
            }
        }
        struct Nothing: Codable {
            init() {}; init(from decoder: any Decoder) throws {}; func encode(to encoder: any Encoder) throws {}
        }
        #expect(throws: LuaError.self) { try state.encode(Both()) }
        #expect(throws: LuaError.self) { try state.encode(Twice()) }
        #expect(try state.encode(Nothing()) == .nil)
        #expect(throws: LuaError.self) { try state.encode([Nothing()]) }
    }

    @Test func `decoding a table runs no metamethods`() throws {
        let source = "setmetatable({}, {__index = error, __len = error, __pairs = error})"
        #expect(try decode([Int].self, source) == [])
        #expect(try decode([String: Int].self, source) == [:])
    }

    private struct Wide: Codable, Equatable {
        var one: Int128
        var two: UInt128?
        var list: [Int128]
    }

    @Test func `wide integers stay integers in structures and lists`() throws {
        let state = try LuaState(), decoder = LuaDecoder()
        let wide = Wide(one: -5, two: 7, list: [1, 2])
        let value = try state.encode(wide)
        #expect(try decoder.decode(Wide.self, from: value) == wide)
        let error = #expect(throws: LuaError.self) { try state.encode(Wide(one: .max, two: nil, list: [])) }
        #expect(error?.message == "one: \(Int128.max) is out of range for an integer in Lua")
    }

    private final class Branch: Codable {
        var left: Branch?
        var right: Branch?
    }

    @Test func `decoding structures with shared parts ends with an error`() throws {
        let state = try LuaState()
        let value = try state.run("local t = {} for i = 1, 40 do t = { left = t, right = t } end return t")[0]
        let error = #expect(throws: LuaError.self) { try LuaDecoder().decode(Branch.self, from: value) }
        #expect(error?.code == .conversion)
    }
}

extension Box {
    enum CodingKeys: CodingKey { case inner, value }
}
