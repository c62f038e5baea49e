internal import PeriluneLua

/// A replacement for the Lua functions that write to standard output: `print`, `io.write`, and `io.stdout` itself.
enum OutputCapture {
    static func install(in state: LuaState, _ write: @escaping @Sendable ([UInt8]) -> Void) throws {
        let function = try state.makeFunction("write") { arguments in
            for position in 1...max(1, arguments.count) {
                if case .string(let text) = arguments[position] { write(text.bytes) }
            }
            return []
        }
        try chunk.function(in: state).call([.function(function)])
    }

    private static let chunk = LuaLibraryText(
        named: "output",
        """
        local write, tostring, select, concat = ..., tostring, select, table.concat

        function print(...)
          local texts = {}
          for i = 1, select("#", ...) do texts[i] = tostring((select(i, ...))) end
          write(concat(texts, "\\t") .. "\\n")
        end

        if io then
          local stdout, output, standard_write = io.stdout, io.output, io.write
          local methods = {}
          local file = setmetatable({}, { __index = methods, __name = "FILE*", __tostring = function() return "file (output)" end })
          function methods:write(...)
            local texts = {}
            for i = 1, select("#", ...) do
              local value = select(i, ...)
              if type(value) ~= "string" and type(value) ~= "number" then
                error("bad argument #" .. i .. " to 'write' (string expected, got " .. type(value) .. ")", 2)
              end
              texts[i] = tostring(value)
            end
            write(concat(texts))
            return self
          end
          function methods:flush() return self end
          function methods:setvbuf() return true end
          function methods:close() return true end
          function methods:seek() return nil, "Illegal seek", 29 end
          io.stdout = file
          function io.write(...)
            if output() ~= stdout then return standard_write(...) end
            return file:write(...)
          end
          function io.output(...)
            if (...) == file then return output(stdout) and file end
            local result = output(...)
            return result == stdout and file or result
          end
        end
        """)
}
