internal import Logging
package import PeriluneBindings
package import PeriluneLua

/// The destination of lines that scripts `print`.
public enum ScriptOutput: Sendable {
    /// To standard output, up to a number of bytes in all; `nil`: no limit. More is an error of kind `output`.
    case standardOutput(limitInBytes: Int? = nil)
    /// To the container's logger, at level `info`.
    case log
    /// To a closure, without the line break, on the host's thread.
    case closure(@Sendable (_ line: String) -> Void)
    /// Nowhere.
    case none

    /// The limit of bytes on standard output.
    var limitInBytes: Int? {
        if case .standardOutput(let limit) = self { limit } else { nil }
    }

    /// Replaces `print`.
    package func install(in state: LuaState, environment: ScriptEnvironment) throws {
        let write: @Sendable (String) -> Void
        switch self {
        case .standardOutput: return
        case .log: write = { [logger = environment.logger] in logger.info("\($0)", source: "script") }
        case .closure(let body): write = body
        case .none: write = { _ in }
        }
        try Self.replacePrint(in: state) { write($0.description) }
    }

    /// Replaces `print` by a function that passes each line to a closure, without the line break.
    static func replacePrint(in state: LuaState, writing write: @escaping (LuaString) throws -> Void) throws {
        let function = try state.makeFunction("print") { arguments in
            try write(arguments.get(1))
            return []
        }
        try print.function(in: state).call([.function(function)])
    }

    /// Like Lua's own function, except for the writing.
    private static let print = LuaLibraryText(named: "print", """
        local write, tostring, select, concat = ..., tostring, select, table.concat
        function print(...)
          local texts = {}
          for i = 1, select("#", ...) do texts[i] = tostring((select(i, ...))) end
          write(concat(texts, "\\t"))
        end
        """)
}
