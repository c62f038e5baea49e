internal import ArgumentParser
internal import Foundation
internal import GRDB
internal import PeriluneRecords

/// Values that shells offer for completion: names in the database and files of the project. The lists are empty if these cannot be read.
///
/// The functions have the signature that ArgumentParser requires: the words of the command line, the index of the word to complete,
/// and its part before the cursor.
enum CompletionValues {
    /// Returns the names of the tables and views.
    @Sendable static func tables(_ words: [String], _ index: Int, _ prefix: String) -> [String] {
        guard let path = database(words), let queue = try? DatabaseFile.openForSchema(path) else { return [] }
        return (try? queue.read { db in try TableDescription.readAll(in: db).map(\.name) }) ?? []
    }

    /// Returns the names of the migrations in the folder on the command line or in the settings.
    @Sendable static func migrations(_ words: [String], _ index: Int, _ prefix: String) -> [String] {
        let given = words.dropFirst(2).map(unquoted).first { word in
            !word.hasPrefix("-") && (try? FileManager.default.contentsOfDirectory(atPath: word)) != nil
        }
        guard let folder = given ?? Settings.current[.migrations]?.text else { return [] }
        return ((try? MigrationFolder(folder))?.files ?? []).map(\.name)
    }

    /// Returns the paths of scenario files and folders; after a file and a colon, the line numbers of its scenarios.
    @Sendable static func scenarioPaths(_ words: [String], _ index: Int, _ prefix: String) -> [String] {
        let prefix = unquoted(prefix)
        if let colon = prefix.firstIndex(of: ":") {
            let file = String(prefix[..<colon])
            return scenarios(in: file).map { literal("\(file):\($0.line)") }
        }
        let folder = prefix.contains("/") ? String(prefix[...(prefix.lastIndex(of: "/") ?? prefix.startIndex)]) : ""
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.isEmpty ? "." : folder)) ?? []
        return names.sorted().compactMap { name in
            var isFolder: ObjCBool = false
            guard !name.hasPrefix("."), FileManager.default.fileExists(atPath: folder + name, isDirectory: &isFolder) else {
                return nil
            }
            if isFolder.boolValue { return folder + name + "/" }
            return name.hasSuffix("_scenario.lua") ? folder + name : nil
        }
    }

    /// Returns the names of the project's scenarios.
    @Sendable static func scenarioNames(_ words: [String], _ index: Int, _ prefix: String) -> [String] {
        guard let folder = Settings.current[.scenarios]?.text, let files = FileManager.default.enumerator(atPath: folder) else {
            return []
        }
        let paths = files.compactMap { $0 as? String }.filter { $0.hasSuffix("_scenario.lua") }.sorted()
        return paths.prefix(500).flatMap { path in scenarios(in: "\(folder)/\(path)").map { literal($0.name) } }
    }

    /// Escapes colons for zsh, which treats the text after a colon as a description.
    private static func literal(_ value: String) -> String {
        CompletionShell.requesting == .zsh ? value.replacing(":", with: "\\:") : value
    }

    /// Returns the scenarios of a file whose definitions start a line and have a quoted name.
    static func scenarios(in path: String) -> [(name: String, line: Int)] {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return [] }
        return text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().compactMap { index, line in
            // For skipped scenarios, the reason precedes the name.
            guard let match = line.firstMatch(of: /^\s*scenario(?:\.skip\s*\([^,]*,|\.\w+)?\s*\(?\s*(?:"([^"]+)"|'([^']+)')/)
            else { return nil }
            return (String(match.1 ?? match.2 ?? ""), index + 1)
        }
    }

    // MARK: - The command line

    /// Returns the database named on the command line or in the settings.
    private static func database(_ words: [String]) -> String? {
        for (index, word) in words.enumerated() {
            if word == "--database", index + 1 < words.count, !words[index + 1].isEmpty { return unquoted(words[index + 1]) }
            if word.hasPrefix("--database=") { return unquoted(String(word.dropFirst("--database=".count))) }
        }
        return Settings.current[.database]?.text
    }

    /// Returns a word without shell quotes and backslashes.
    static func unquoted(_ word: String) -> String {
        var result = "", quote: Character?, isEscaped = false
        for character in word {
            switch character {
            case _ where isEscaped: (isEscaped, _) = (false, result.append(character))
            case "\\" where quote != "'": isEscaped = true
            case quote: quote = nil
            case "'" where quote == nil, "\"" where quote == nil: quote = character
            default: result.append(character)
            }
        }
        return result
    }
}
