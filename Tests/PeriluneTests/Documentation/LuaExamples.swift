// swift-format-ignore-file
// The documentation shows these examples word for word, in shorter lines.
import PeriluneLua
import Testing

/// The examples for `PeriluneLua`.
@Suite struct LuaExamples {
    struct Order: Codable, Equatable {
        var id: Int
        var lines: [String]
    }

    struct Total: Codable, Equatable {
        var amount: Double
        var currency: String
    }

    struct Point {
        var x: Double
        var y: Double

        func distance(to other: Point) -> Double {
            ((x - other.x) * (x - other.x) + (y - other.y) * (y - other.y)).squareRoot()
        }
    }

    @Test func states() throws {
        // example
        let state = try LuaState()
        let sum = try state.load("local a, b = ...; return a + b", named: "sum.lua")
        let result: Int = try sum(1, 2)
        // end
        #expect(result == 3)
    }

    @Test func coding() throws {
        let state = try LuaState()
        // example
        let value = try state.encode(Order(id: 1, lines: ["tea"]))
        let order = try LuaDecoder().decode(Order.self, from: value)
        // end
        #expect(order == Order(id: 1, lines: ["tea"]))
        let function = try state.load("local order, currency = ... return { amount = #order.lines * 2, currency = currency }")
        // example
        let total = try function.call(decoding: Total.self, order, "EUR")
        // end
        #expect(total == Total(amount: 2, currency: "EUR"))
    }

    @Test func userdata() throws {
        let state = try LuaState()
        // example
        let point = try state.makeUserdataType("point", of: Point.self)
        try point.property("x") { .number($0.x) }
        try point.method("distance") { [unowned point] from, arguments in
            [.number(from.distance(to: try point.value(of: arguments[1])))]
        }
        try state.globals.set("origin", .userdata(point.make(Point(x: 0, y: 0))))
        // end
        try state.globals.set("corner", .userdata(point.make(Point(x: 3, y: 4))))
        let distance = try state.load("return origin.x + origin:distance(corner)").call([])
        #expect(distance == [.number(5)])
    }
}
