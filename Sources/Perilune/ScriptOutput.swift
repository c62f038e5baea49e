internal import Logging
package import PeriluneBindings
package import PeriluneLua

/// Where the lines go that scripts `print`.
public enum ScriptOutput: Sendable {
    /// To standard output.
    case standardOutput
    /// To the container's logger, at level `info`.
    case log
    /// To a closure, without the line break, on the host's thread.
    case closure(@Sendable (_ line: String) -> Void)
    /// Nowhere.
    case none

    /// Replaces `print`.
    package func install(in state: LuaState, environment: ScriptEnvironment) throws {
        let write: @Sendable (String) -> Void
        switch self {
        case .standardOutput: return
        case .log: write = { [logger = environment.logger] in logger.info("\($0)", source: "script") }
        case .closure(let body): write = body
        case .none: write = { _ in }
        }
        let function = try state.makeFunction("print") { arguments in
            let line: LuaString = try arguments.get(1)
            write(line.description)
            return []
        }
        try state.loadLibrary(Self.print, named: "print").call([.function(function)])
    }

    /// As Lua's own, but for the writing.
    private static let print = """
        local write, tostring, select, concat = ..., tostring, select, table.concat
        function print(...)
          local texts = {}
          for i = 1, select("#", ...) do texts[i] = tostring((select(i, ...))) end
          write(concat(texts, "\\t"))
        end
        """
}
