import PeriluneLua
import Testing

struct CoverageTests {
    /// Returns the counts of the lines that have run, by chunk.
    private func lines(of state: LuaState) -> [String: [Int: Int]] {
        var lines: [String: [Int: Int]] = [:]
        state.readCoverage { file, line, count in lines[file, default: [:]][line] = count }
        return lines
    }

    @Test func `each executed line is counted under the name of its chunk`() throws {
        let state = try LuaState(limits: LuaLimits(instructions: 1_000_000))
        state.coverLines()
        try state.run("local n = 0\nfor _ = 1, 3 do\n  n = n + 1\nend", named: "a.lua")
        #expect(lines(of: state)["a.lua"]?[3] == 3)
    }

    @Test func `a chunk whose name reuses the address of a collected name is counted separately`() throws {
        let state = try LuaState(limits: LuaLimits(instructions: 1_000_000))
        state.coverLines()
        // Lua does not share long strings. Each long chunk name is a separate object, whose memory the next object of that size
        // reuses.
        let prefix = String(repeating: "folder/", count: 8)
        for number in 100..<200 {
            try state.run("return 1", named: "\(prefix)\(number).lua")
            state.collectGarbage()
        }
        #expect(lines(of: state).count == 100)
    }
}
