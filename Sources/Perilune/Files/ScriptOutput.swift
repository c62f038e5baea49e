internal import Logging
package import PeriluneBindings
package import PeriluneLua

/// The destination of lines printed by scripts.
public enum ScriptOutput: Sendable {
    /// Standard output, with a limit on the total number of bytes; `nil` for no limit. If a script exceeds the limit, `print` raises an
    /// error of kind `output`.
    case standardOutput(limitInBytes: Int? = nil)
    /// The container's logger, with the level `info`.
    case log
    /// A closure called on the host's thread with each line, without the line break.
    case closure(@Sendable (_ line: String) -> Void)
    /// Printed lines are discarded.
    case discarded

    /// The maximum number of bytes on standard output.
    var limitInBytes: Int? {
        if case .standardOutput(let limit) = self { limit } else { nil }
    }

    /// Replaces `print` with a function that writes to the destination.
    package func install(in state: LuaState, environment: ScriptEnvironment) throws {
        let write: @Sendable (String) -> Void
        switch self {
        case .standardOutput: return
        case .log: write = Self.logging(environment.logger)
        case .closure(let body): write = body
        case .discarded: write = { _ in }
        }
        try Self.replacePrint(in: state) { line in
            guard let output = RunOptions.current?.output else { return write(line.description) }
            output.write(line.description, environment)
        }
    }

    private static func logging(_ logger: Logger) -> @Sendable (String) -> Void {
        { line in
            let metadata: Logger.Metadata = LogContext.metadata.mapValues { "\($0)" }
            logger.info("\(line)", metadata: metadata.isEmpty ? nil : metadata, source: "script")
        }
    }

    /// Writes a line of a run whose options have a separate destination.
    private func write(_ line: String, _ environment: ScriptEnvironment) {
        switch self {
        case .standardOutput: Swift.print(line)
        case .log: Self.logging(environment.logger)(line)
        case .closure(let body): body(line)
        case .discarded: break
        }
    }

    /// Replaces `print` with a function that passes each line to a closure, without the line break.
    static func replacePrint(in state: LuaState, writing write: @escaping (LuaString) throws -> Void) throws {
        let function = try state.makeFunction("print") { arguments in
            try write(arguments.get(1))
            return []
        }
        try print.function(in: state).call([.function(function)])
    }

    /// Lua code that defines `print` like Lua's function, but passes the line to another function.
    private static let print = LuaLibraryText(
        named: "print",
        """
        local write, tostring, select, concat = ..., tostring, select, table.concat
        function print(...)
          local texts = {}
          for i = 1, select("#", ...) do texts[i] = tostring((select(i, ...))) end
          write(concat(texts, "\\t"))
        end
        """)
}
