/// A parser of durations such as `90`, `1.5`, `500ms`, `2 hours` and `1h30m`.
///
/// It reads durations in options of scripts and commands, in `perilune.toml`, and in cluster addresses.
package enum DurationText {
    /// The longest accepted duration, a hundred years.
    package static let longest = Duration.seconds(36_525 * 86_400)

    /// The start of error messages about invalid durations.
    package static let expectation = "expected a time such as 1.5, 500ms, 2s or 1m"

    private static let units: [(names: [String], seconds: Double)] = [
        (["w", "week", "weeks"], 604_800), (["d", "day", "days"], 86_400), (["h", "hr", "hrs", "hour", "hours"], 3600),
        (["m", "min", "mins", "minute", "minutes"], 60), (["s", "sec", "secs", "second", "seconds", ""], 1),
        (["ms", "msec", "msecs", "millisecond", "milliseconds"], 0.001),
    ]

    /// Parses a duration; returns `nil` for other text. A number without a unit is in seconds. Each unit may appear only once.
    package static func read(_ text: String) -> Duration? {
        guard text.utf8.count <= 200 else { return nil }
        var rest = Substring(text.lowercased())
        var seconds = 0.0, seen: Set<Int> = []
        skipBlanks(&rest)
        while !rest.isEmpty {
            guard let number = takeNumber(&rest) else { return nil }
            skipBlanks(&rest)
            let name = rest.prefix { $0.isASCII && $0.isLetter }
            rest = rest.dropFirst(name.count)
            skipBlanks(&rest)
            guard let unit = units.firstIndex(where: { $0.names.contains(String(name)) }), seen.insert(unit).inserted else {
                return nil
            }
            // "1h30" is ambiguous: 30 could mean minutes or seconds.
            guard !name.isEmpty || seen.count == 1 && rest.isEmpty else { return nil }
            seconds += number * units[unit].seconds
        }
        guard !seen.isEmpty, seconds <= longest / .seconds(1) else { return nil }
        return .seconds(seconds)
    }

    private static func skipBlanks(_ text: inout Substring) {
        text = text.drop { $0 == " " || $0 == "\t" }
    }

    /// Consumes digits with an optional fraction.
    private static func takeNumber(_ text: inout Substring) -> Double? {
        let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        text = text.dropFirst(digits.count)
        return Double(digits)
    }
}
