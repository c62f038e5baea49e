import ArgumentParser
internal import PeriluneRecords

/// Parsers for option values.
enum OptionValue {
    /// Parses a duration: `1.5` seconds, `500ms`, `2s`, `1h30m`, `1d`.
    static func duration(_ text: String) throws -> Duration {
        // Shorter durations would round to zero, which is not a limit.
        guard let duration = DurationText.read(text), duration >= .milliseconds(1) else {
            throw ValidationError(DurationText.expectation)
        }
        return duration
    }

    /// Parses ascending numbers from 1, separated by commas.
    static func counts(_ text: String) throws -> [Int] {
        let numbers = text.split(separator: ",", omittingEmptySubsequences: false).map { Int($0) ?? 0 }
        guard numbers.allSatisfy({ $0 > 0 }), numbers == Set(numbers).sorted() else {
            throw ValidationError("expected ascending numbers such as 7 or 7,12")
        }
        return numbers
    }

    /// Parses a size in bytes: a plain number, `512K`, `64M` or `1G`.
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

    /// Parses a number that consists of digits with an optional fraction.
    private static func decimal(_ text: Substring) -> Double? {
        guard text.utf8.allSatisfy({ ($0 >= 0x30 && $0 <= 0x39) || $0 == 0x2E }) else { return nil }
        return Double(text)
    }
}
