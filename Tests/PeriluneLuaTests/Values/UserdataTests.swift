import PeriluneLua
import Testing

private final class Counter {
    var value: Int
    var name = "counter"

    init(_ value: Int) { self.value = value }
}

@Suite struct UserdataTests {
    private let state: LuaState
    private let type: LuaUserdataType<Counter>

    init() throws {
        state = try LuaState()
        type = try state.makeUserdataType("counter")
        try type.method("add") { counter, arguments in
            counter.value += try arguments.get(1)
            return [.integer(Int64(counter.value))]
        }
        try type.method("count") { _, arguments in [.integer(Int64(arguments.count))] }
        try type.property("value") { .integer(Int64($0.value)) }
        try type.property("name", { .string(LuaString($0.name)) }, set: { $0.name = try String.fromLua($1) })
        try type.metamethod("__eq") { [type] in
            [.boolean(try type.value(of: $0[1]).value == type.value(of: $0[2]).value)]
        }
        try type.metamethod("__tostring") { [type] in [.string(LuaString("counter \(try type.value(of: $0[1]).value)"))] }
        try state.globals.set("c", .userdata(type.make(Counter(5))))
        try state.globals.set("d", .userdata(type.make(Counter(5))))
    }

    @Test func `userdata methods receive the value, and their arguments start at 1`() throws {
        #expect(try state.evaluate("return c:add(3)") == 8)
        #expect(try state.evaluate("return c:add(-1)") == 7)
        #expect(try state.evaluate("return c:count(nil, nil)") == 2)
    }

    @Test func `userdata properties can be read, and set if they have a setter`() throws {
        #expect(try state.evaluate("c.name = 'visits'; return c.name .. c.value") == "visits5")
        let error = try failure(of: "c.value = 1", in: state)
        #expect(error.kind == "readonly_member")
        #expect(error.message == "counter: `value` cannot be set")
    }

    @Test func `an unknown member of userdata is an error that lists the members`() throws {
        let error = try failure(of: "return c.colour", in: state)
        #expect(error.kind == "unknown_member")
        #expect(error.message == "counter has no member `colour`; it has: add, count, name, value")
        #expect(try failure(of: "return c[1]", in: state).message.contains("no member 1"))
    }

    @Test func `userdata types can define metamethods`() throws {
        #expect(try state.evaluate("return c == d") == true)
        #expect(try state.evaluate("return tostring(c)") == "counter 5")
        _ = try failure(of: "return c + 1", in: state)
        _ = try failure(of: "return #c", in: state)
        _ = try failure(of: "return c()", in: state)
    }

    @Test func `arguments that do not fit are reported with the method's name`() throws {
        #expect(
            try failure(of: "c:add('x')", in: state).message
                == "counter:add: argument 1: expected an integer, got the string \"x\"")
        #expect(try failure(of: "c:add()", in: state).message == "counter:add: argument 1: expected an integer, got nil")
    }

    @Test func `userdata methods refuse a wrong self`() throws {
        let other: LuaUserdataType<String> = try state.makeUserdataType("label")
        try state.globals.set("label", .userdata(other.make("x")))
        for value in [
            "nil", "5", "'text'", "{}", "label", "print", "coroutine.create(print)",
            "setmetatable({}, {__name = 'counter', __index = c})",
        ] {
            #expect(try failure(of: "c.add(\(value), 1)", in: state).message.hasPrefix("counter:add: expected counter, got"))
        }
        #expect(try failure(of: "c.add()", in: state).message == "counter:add: expected counter, got no value")
    }

    @Test func `scripts can neither access nor forge the metatable of userdata`() throws {
        #expect(try state.evaluate("return getmetatable(c)") == false)
        _ = try failure(of: "setmetatable(c, {})", in: state)
        _ = try failure(of: "rawset(c, 'x', 1)", in: state)
        _ = try failure(of: "rawget(c, 'x')", in: state)
    }

    @Test func `the finalizer of userdata is not a member`() throws {
        let plain: LuaUserdataType<Int> = try state.makeUserdataType("plain")
        try state.globals.set("plain", .userdata(plain.make(1)))
        #expect(try state.evaluate("return plain.__gc == nil and plain.__index == nil and plain.__name == nil") == true)
        _ = try failure(of: "return c.__gc", in: state)
    }

    @Test func `Swift can convert userdata only to its own type`() throws {
        let value = try state.globals.get("c")
        #expect(type.matches(value))
        #expect(try type.value(of: value).value == 5)
        let sameName: LuaUserdataType<Int> = try state.makeUserdataType("counter")
        #expect(!sameName.matches(value))
        #expect(throws: LuaError.self) { try sameName.value(of: value) }
        #expect(!type.matches(5))
        let other = try LuaState()
        let foreign: LuaUserdataType<Counter> = try other.makeUserdataType("counter")
        #expect(!type.matches(.userdata(try foreign.make(Counter(1)))))
    }

    @Test func `userdata can be used in coroutines`() throws {
        #expect(try state.evaluate("return coroutine.wrap(function() coroutine.yield() return c:add(1) end)() or c.value") == 5)
        #expect(
            try state.evaluate(
                "local f = coroutine.wrap(function() c:add(1) coroutine.yield() c:add(1) end) f() f() return c.value") == 7)
    }

    @Test func `a userdata type works after Swift has released it`() throws {
        do {
            let fleeting: LuaUserdataType<Counter> = try state.makeUserdataType("fleeting")
            try fleeting.method("get") { counter, _ in [.integer(Int64(counter.value))] }
            try fleeting.property("value") { .integer(Int64($0.value)) }
            try state.globals.set("f", .userdata(fleeting.make(Counter(9))))
        }
        state.collectGarbage()
        #expect(try state.evaluate("return f:get() + f.value") == 18)
        _ = try failure(of: "return f.nothing", in: state)
    }

    @Test func `trivial Swift values are stored inside the userdata and need no finalizer`() throws {
        struct Point: BitwiseCopyable {
            var x: Int8
            var y: Double
        }
        let points = try state.makeInlineUserdataType("point", of: Point.self)
        try points.property("x") { .integer(Int64($0.x)) }
        try points.method("plus") { [points] point, arguments in
            [.userdata(try points.make(Point(x: point.x, y: point.y + arguments.get(1))))]
        }
        try points.property("y") { .number($0.y) }
        try state.globals.set("p", .userdata(points.make(Point(x: -7, y: 0.5))))
        #expect(try state.evaluate("return p.x") == -7)
        #expect(try state.evaluate("return p:plus(1):plus(2).y") == 3.5)
        let value = try state.globals.get("p")
        #expect(points.matches(value))
        #expect(try points.value(of: value).y == 0.5)
        #expect(!type.matches(value))
        #expect(throws: LuaError.self) { try type.value(of: value) }
        #expect(!points.matches(try state.globals.get("c")))
        for other in ["nil", "c", "{}", "5"] {
            #expect(try failure(of: "return p.plus(\(other), 1)", in: state).message.hasPrefix("point:plus: expected point, got"))
        }
        _ = try failure(of: "p.x = 5", in: state)
        #expect(try state.evaluate("for i = 1, 10000 do p = p:plus(1) end collectgarbage() return p.y") == 10000.5)
    }

    // MARK: - Scopes

    @Test func `a scoped value becomes unusable at the end of its scope, wherever it is stored`() throws {
        try state.withScope { scope in
            try state.globals.set("s", .userdata(type.make(Counter(1), in: scope)))
            #expect(
                try state.evaluate(
                    "kept = {s}; add = s.add; co = coroutine.wrap(function() coroutine.yield() return s:add(1) end) co() return s:add(1)"
                ) == 2)
        }
        for source in ["s:add(1)", "kept[1]:add(1)", "add(s, 1)", "return s.value", "s.name = 'x'", "co()", "return tostring(s)"]
        {
            let error = try failure(of: source, in: state)
            #expect(error.kind == "dead_handle", "\(source): \(error)")
            #expect(error.message.contains("used after its scope has ended"))
        }
    }

    @Test func `a scope that ends with an error invalidates its values`() throws {
        #expect(throws: HostError.self) {
            try state.withScope { scope in
                try state.globals.set("s", .userdata(type.make(Counter(1), in: scope)))
                throw HostError()
            }
        }
        #expect(try failure(of: "s:add(1)", in: state).kind == "dead_handle")
    }

    @Test func `a scoped value is released at the end of its scope`() throws {
        let type: LuaUserdataType<Watched> = try state.makeUserdataType("watched")
        weak var watched: Watched?
        try state.withScope { scope in
            let object = Watched()
            watched = object
            try state.globals.set("w", .userdata(type.make(object, in: scope)))
        }
        #expect(watched == nil)
    }
}
