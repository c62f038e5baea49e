import ArgumentParser

/// How errors are written.
enum ErrorFormat: String, CaseIterable, ExpressibleByArgument, Sendable {
    case text, json
}

/// What all commands that run something have in common.
struct CommonOptions: ParsableArguments {
    @Flag(name: .shortAndLong, help: "Say on standard error which database is used, and more.")
    var verbose = false

    @Option(help: "When to use colours; NO_COLOR, FORCE_COLOR and CLICOLOR_FORCE count, too.")
    var color = ColourChoice.auto

    @Option(
        help: """
            For whom the command runs: live; a test, which has a clock that stands and never uses the database itself; or a \
            preview, on a private copy. Else the variable PERILUNE_CONTEXT says it.
            """)
    var context: ContextOption?

    @Option(help: "How errors are written to standard error.")
    var errorFormat = ErrorFormat.text
}

/// What commands have that else refuse a database which is not there: a path that is mistyped is no empty database.
struct CreateOption: ParsableArguments {
    @Flag(help: "Take an empty database if there is none at the path of --database.")
    var create = false
}

/// How options are read.
enum OptionValue {
    /// A time: `1.5` seconds, `500ms`, `2s`, `1m`, `1h`.
    static func duration(_ text: String) throws -> Duration {
        let units: [(suffix: String, seconds: Double)] = [("ms", 0.001), ("s", 1), ("m", 60), ("h", 3600), ("", 1)]
        for unit in units where text.hasSuffix(unit.suffix) {
            guard let number = decimal(text.dropLast(unit.suffix.count)) else { break }
            let seconds = number * unit.seconds
            // Up to a hundred years; and what rounds to no time at all is no limit.
            guard seconds >= 0.001, seconds < 3_155_760_000 else { break }
            return .seconds(seconds)
        }
        throw ValidationError("expected a time such as 1.5, 500ms, 2s or 1m")
    }

    /// A size: a number of bytes, `512K`, `64M`, `1G`.
    static func size(_ text: String) throws -> Int {
        var number = text[...]
        for suffix in ["iB", "B"] where number.hasSuffix(suffix) {
            number = number.dropLast(suffix.count)
            break
        }
        let unit = ["k": 1 << 10, "m": 1 << 20, "g": 1 << 30][number.last?.lowercased() ?? ""]
        if unit != nil { number = number.dropLast() }
        guard let value = decimal(number), value > 0, unit != nil || !number.contains(".") else {
            throw ValidationError("expected a size such as 1000000, 512K, 64M or 1G")
        }
        let bytes = value * Double(unit ?? 1)
        guard bytes >= 1, bytes < Double(1 << 60) else {
            throw ValidationError("expected a size of at least one byte, and less than 2^60")
        }
        return Int(bytes)
    }

    /// Digits, and perhaps a point and digits.
    private static func decimal(_ text: Substring) -> Double? {
        guard text.utf8.allSatisfy({ ($0 >= 0x30 && $0 <= 0x39) || $0 == 0x2E }) else { return nil }
        return Double(text)
    }

    /// The path of a database; `nil` for a private one in memory.
    static func databasePath(_ text: String?) throws -> String? {
        guard let text, text != ":memory:" else { return nil }
        guard !text.isEmpty else { throw ValidationError("--database: expected the path of a file, got nothing") }
        return text
    }
}
