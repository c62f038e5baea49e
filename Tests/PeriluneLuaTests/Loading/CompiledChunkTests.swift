import PeriluneLua
import Testing

/// Chunks that one state has compiled and another state loads.
@Suite struct CompiledChunkTests {
    private let text = """
        local function fail(count)
          local limit = 3
          if count > limit then error({ message = "too many" }) end
          return count + limit
        end
        return { call = function(count) return fail(count) end }
        """

    private func chunk() throws -> LuaCompiledChunk {
        let state = try LuaState()
        return try #require(try state.loadLibrary(text, named: "part.lua").compiled(named: "=[lib] part.lua"))
    }

    @Test func `a library chunk uses the globals of the Lua state that loads it`() throws {
        let text = LuaLibraryText(named: "part", "local added = ... total = (total or 0) + added return total")
        for _ in 0..<3 {
            let state = try LuaState()
            let sums = try [2, 3].map { try text.function(in: state).call([.integer($0)]) }
            #expect(sums == [[.integer(2)], [.integer(5)]])
            let error = #expect(throws: LuaError.self) { try text.function(in: state).call([]) }
            #expect(error?.message.contains("added") == true)
        }
    }

    @Test func `an error in a library chunk is attributed to the calling script`() throws {
        let state = try LuaState()
        try state.globals.set("part", state.load(chunk()).call([]).first ?? .nil)
        let error = try failure(of: "\nlocal x = part.call(4)\nreturn x", in: state)
        #expect(error.file == "test.lua")
        #expect(error.line == 2)
        #expect(error.message.contains("too many"))
    }

    @Test func `a function in a loaded chunk has the chunk's source name`() throws {
        let state = try LuaState(libraries: [.base, .debug])
        try state.globals.set("part", state.load(chunk()).call([]).first ?? .nil)
        #expect(try state.run("return debug.getinfo(part.call, 'S').source", named: "test.lua") == [.string("=[lib] part.lua")])
    }
}
