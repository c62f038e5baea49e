internal import Foundation
internal import Perilune
internal import PeriluneRecords
internal import PeriluneTOML

/// The contents of `perilune.toml`: its settings with their lines.
struct SettingsFile: Sendable {
    /// The values of a setting as text, with their line.
    struct Entry: Equatable, Sendable {
        /// The values; only one unless the setting accepts a list.
        let values: [String]
        /// The line number, from 1.
        let line: Int
    }

    /// The path of the file in messages.
    let path: String
    private(set) var entries: [Setting: Entry] = [:]

    /// Parses the text of a settings file.
    ///
    /// - Throws: ``CommandFailure`` with the line, if it is not TOML or contains unknown settings.
    init(_ bytes: [UInt8], path: String) throws {
        self.path = path
        guard let text = String(bytes: bytes, encoding: .utf8) else {
            throw CommandFailure(ErrorReport("\(path) is not UTF-8", kind: "settings", help: "save the file as UTF-8"))
        }
        let lines = SettingsLines(text)
        let table: [String: TOMLNode]
        do {
            table = try TOMLDocument.read(text)
        } catch {
            let reason = error.message.trimmingCharacters(in: .whitespacesAndNewlines)
            throw failure("the file is not TOML: " + reason.prefix(1).lowercased() + reason.dropFirst(), line: error.line, lines)
        }
        try read(table, at: [], lines)
    }

    private mutating func read(_ table: [String: TOMLNode], at path: [String], _ lines: SettingsLines) throws {
        // Sorted by line, so that the first mistake in the file is reported.
        for (key, value) in table.sorted(by: { lines.line(of: path + [$0.key]) < lines.line(of: path + [$1.key]) }) {
            let place = path + [key], name = place.joined(separator: ".")
            let line = lines.line(of: place)
            if case .table(let inner) = value, Setting.allCases.contains(where: { $0.rawValue.hasPrefix(name + ".") }) {
                try read(inner, at: place, lines)
            } else if let setting = Setting(name: name) {
                entries[setting] = Entry(values: try texts(of: value, for: setting, line, lines), line: line)
            } else {
                throw unknown(name, line, lines)
            }
        }
    }

    private func unknown(_ name: String, _ line: Int, _ lines: SettingsLines) -> CommandFailure {
        var failure = failure("unknown setting `\(name)`", line: line, lines)
        let suggestion = SettingSuggestion(for: name)
        failure.report.help = suggestion.help
        failure.report.suggestions = suggestion.name.map { [$0] } ?? []
        return failure
    }

    /// Converts the values of a setting to the form of command-line options.
    private func texts(of value: TOMLNode, for setting: Setting, _ line: Int, _ lines: SettingsLines) throws -> [String] {
        guard setting.takesList else { return [try text(of: value, for: setting, line, lines)] }
        guard case .list(let values) = value else {
            throw failure("`\(setting.rawValue)`: expected a list of strings, got \(Self.name(of: value))", line: line, lines)
        }
        return try values.map { try text(of: $0, for: setting, line, lines) }
    }

    /// Converts a value to the form of a command-line option.
    private func text(of value: TOMLNode, for setting: Setting, _ line: Int, _ lines: SettingsLines) throws -> String {
        let text: String? =
            switch value {
            case .boolean(let value) where setting.takesBooleans: "\(value)"
            case .string(let text): text
            case .integer(let number) where setting.takesNumbers: "\(number)"
            case .number(let number) where setting.takesNumbers: "\(number)"
            default: nil
            }
        guard let text else {
            let wanted =
                setting.takesBooleans
                ? "true or false"
                : setting.takesList ? "a list of strings" : setting.takesNumbers ? "a number or a string" : "a string"
            throw failure(
                "`\(setting.rawValue)`: expected \(wanted), got \(setting.takesList ? "one with " : "")\(Self.name(of: value))",
                line: line, lines)
        }
        if let problem = setting.problem(with: text) {
            throw failure("`\(setting.rawValue)`: \(problem)", line: line, lines)
        }
        return text
    }

    private static func name(of value: TOMLNode) -> String {
        switch value {
        case .table: "a table"
        case .list: "a list"
        case .string: "a string"
        case .integer, .number: "a number"
        case .boolean: "a boolean"
        case .date: "a date"
        }
    }

    private func failure(_ message: String, line: Int, _ lines: SettingsLines) -> CommandFailure {
        var report = ErrorReport(message, kind: "settings")
        report.file = path
        report.line = line
        report.sourceLine = lines.text(of: line)
        return CommandFailure(report)
    }
}

/// The line numbers of keys in a TOML file, which the TOML parser does not provide.
private struct SettingsLines {
    private let lines: [Substring]

    init(_ text: String) {
        lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    }

    func text(of line: Int) -> String? {
        lines.indices.contains(line - 1) ? String(lines[line - 1]) : nil
    }

    /// Returns the line that sets a key, or else the line of the innermost table that contains it.
    func line(of path: [String]) -> Int {
        var header: [String] = []
        var found = (line: 1, length: 0)
        for (index, line) in lines.enumerated() {
            let text = line.drop { $0 == " " || $0 == "\t" }
            let place: [String]
            if text.first == "[" {
                header = Self.keys(text.drop { $0 == "[" }.prefix { $0 != "]" })
                place = header
            } else if let equals = text.firstIndex(of: "="), text.first != "#" {
                place = header + Self.keys(text[..<equals])
            } else {
                continue
            }
            if place.count > found.length, path.starts(with: place) { found = (index + 1, place.count) }
        }
        return found.line
    }

    private static func keys(_ text: Substring) -> [String] {
        text.split(separator: ".").map { $0.trimmingCharacters(in: CharacterSet(charactersIn: " \t\"'")) }
    }
}
