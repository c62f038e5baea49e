import PeriluneLua
import Testing

@Suite struct StateTests {
    @Test func `a chunk gets arguments and returns values`() throws {
        let state = try LuaState()
        let sum = try state.load("local a, b = ...; return a + b", named: "sum.lua")
        let result: Int = try sum(1, 2)
        #expect(result == 3)
    }
}
