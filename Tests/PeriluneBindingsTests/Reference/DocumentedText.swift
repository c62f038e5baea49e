import Foundation

/// A page of the documentation that is searched for names.
struct DocumentedPage: Sendable, CustomStringConvertible {
    /// Code in a sentence or in a table.
    struct Span: Sendable {
        let line: Int
        let text: String
        /// Whether the code span is a link to a Swift symbol.
        let isLink: Bool
    }

    let path: String
    let spans: [Span]
    /// The words of the code blocks, which define their own names.
    let wordsOfBlocks: Set<String>

    var description: String { path }

    init(path: String, text: String) {
        self.path = path
        var prose: [String] = [], blocks = "", isInBlock = false
        for line in text.components(separatedBy: "\n") {
            if line.trimmingCharacters(in: .whitespaces).hasPrefix("```") {
                isInBlock.toggle()
                prose.append("")
            } else if isInBlock {
                blocks += line + "\n"
                prose.append("")
            } else {
                prose.append(line)
            }
        }
        spans = Self.spans(in: Self.withoutForeignColumns(prose).joined(separator: "\n"))
        var words: Set<String> = []
        Words.forEach(in: blocks) { word, _ in words.insert(word) }
        wordsOfBlocks = words
    }

    /// The README and all pages of the catalogs.
    static let all: [DocumentedPage] = {
        let names =
            FileManager.default.enumerator(atPath: Reference.root.appending(path: "Sources").path)?.allObjects as? [String] ?? []
        let pages = names.filter { $0.hasSuffix(".md") }.sorted().map { "Sources/" + $0 }
        return (["README.md"] + pages).map { DocumentedPage(path: $0, text: Reference.text(of: $0) ?? "") }
    }()

    /// Removes the columns about other libraries from tables that compare Perilune with them.
    private static func withoutForeignColumns(_ lines: [String]) -> [String] {
        var column: Int?
        return lines.map { line in
            guard line.hasPrefix("|") else {
                column = nil
                return line
            }
            let cells = line.replacing("\\|", with: "\u{1}").split(separator: "|", omittingEmptySubsequences: false).map(
                String.init)
            if column == nil {
                column = cells.firstIndex { $0.trimmingCharacters(in: .whitespaces) == "Perilune" } ?? -1
            }
            guard let column, column >= 0 else { return line }
            return cells.indices.contains(column) ? cells[column].replacing("\u{1}", with: "|") : ""
        }
    }

    private static func spans(in text: String) -> [Span] {
        var spans: [Span] = [], line = 1, position = text.startIndex
        for match in text.matches(of: /(`+)([^`]+)(`+)/) where match.1 == match.3 {
            line += text[position..<match.range.lowerBound].count { $0 == "\n" }
            position = match.range.lowerBound
            let code = String(match.2).replacing("\n", with: " ").replacing("\\|", with: "|")
            spans.append(Span(line: line, text: code, isLink: match.1.count == 2))
        }
        return spans
    }
}

/// Finds the identifiers in a text without a regular expression: the sources are long, and tests are compiled without optimization.
enum Words {
    /// Calls a function with each identifier and the preceding byte. A comma also counts if a space follows it.
    static func forEach(in text: String, _ body: (_ word: String, _ before: UInt8) -> Void) {
        Array(text.utf8).withUnsafeBufferPointer { bytes in
            var position = 0
            while position < bytes.count {
                let start = position
                while position < bytes.count, isPart(bytes[position]) { position += 1 }
                guard position > start else {
                    position += 1
                    continue
                }
                let isListed = start > 1 && bytes[start - 1] == UInt8(ascii: " ") && bytes[start - 2] == UInt8(ascii: ",")
                body(
                    String(decoding: UnsafeBufferPointer(rebasing: bytes[start..<position]), as: UTF8.self),
                    start == 0 ? 0 : isListed ? UInt8(ascii: ",") : bytes[start - 1])
            }
        }
    }

    private static func isPart(_ byte: UInt8) -> Bool {
        byte >= 97 && byte <= 122 || byte >= 65 && byte <= 90 || byte == 95 || byte >= 48 && byte <= 57
    }
}

/// The names that documents may use, grouped by their definitions.
struct KnownNames: Sendable {
    /// Members by the variable that the reference uses for their owner: `db`, `request`, `column`, ...
    var members: [String: Set<String>] = [:]
    /// Every name of the Lua API: members, fields, parameters, kinds, values of options.
    var lua: Set<String> = []
    /// Names in Lua itself: keywords, globals, members of its libraries.
    var standard: Set<String> = []
    /// Names that the Swift sources declare, including types in the tests.
    var swift: Set<String> = []
    /// The targets of the package.
    var targets: Set<String> = []
    /// Functions, types and files of C and of the Lua library, and scripts.
    var sources: Set<String> = []
    /// SQL functions, pragmas and collations of the linked SQLite.
    var sql: Set<String> = []
    /// The paths of all files and folders, relative to the project's root.
    var paths: Set<String> = []

    /// Names from Swift, Foundation and other systems that no source of this project declares.
    static let foreign: Set<String> = [
        "prepareDatabase", "schemaSource", "withDependencies", "CancellationError", "LocalizedError", "CocoaError",
        "Synchronization", "cancelWhenGracefulShutdown", "cancelOnGracefulShutdown",
        "Codable", "Decodable", "Equatable", "Sendable",
        "Duration", "Range", "IndexSet", "CharacterSet", "Int", "Int64", "UInt64", "String", "Double",
        "Data", "Date",
        "DatabaseMigrator", "DatabaseQueue", "DatabasePool", "maximumReaderCount", "addingReportingOverflow", "await", "for",
        "try", "swift",
        "systemd", "cron", "longjmp", "fun", "sqlite3", "docc", "git", "jq", "Array", "perilune.toml",
        // Names of aggregates of a column `year`.
        "year_sum", "year_total", "year_count", "average_year", "min_year", "max_year",
        // Files of the Lua test suite.
        "cstack", "gc", "gengc", "locals", "pm",
    ]

    func isKnown(_ name: String, on page: DocumentedPage) -> Bool {
        lua.contains(name) || standard.contains(name) || swift.contains(name) || sources.contains(name) || targets.contains(name)
            || sql.contains(name)
            || page.wordsOfBlocks.contains(name) || Self.foreign.contains(name) || isPlaceholder(name)
    }

    /// `NAME`, `FILE`, SQL keywords, `x`, `n`.
    private func isPlaceholder(_ name: String) -> Bool {
        name.count == 1 || name.allSatisfy { $0.isUppercase || $0 == "_" || $0.isNumber }
    }

    /// The names in a page's code that nothing defines.
    func unknownNames(in span: DocumentedPage.Span, on page: DocumentedPage) -> [String] {
        // Without string literals and without the names of functions that the page defines.
        let code = span.text.replacing(/"[^"]*"|'[^']*'|"[^"]*$/, with: "").replacing(/\bfunction [\w.:]+/, with: "function ")
        if span.isLink {
            return code.split(separator: "/").map(Self.baseName).filter { !swift.contains($0) && !targets.contains($0) }
        }
        if let path = Self.path(in: code) { return isFile(path, on: page) ? [] : [path] }
        if code.hasPrefix("-") || code.hasPrefix("perilune ") || code.contains("$") || code.contains("//") { return [] }
        if Self.foreign.contains(code) { return [] }
        var unknown: [String] = []
        // Most code is one word; the expressions below are slow.
        if code.utf8.allSatisfy({ $0 != 46 && $0 != 58 && $0 != 40 && $0 != 123 }) {
            return code.contains(" ") || code.wholeMatch(of: /[A-Za-z_]\w*/) == nil || isKnown(code, on: page) ? [] : [code]
        }
        for match in code.matches(of: /([A-Za-z_]\w*)((?:[.:][A-Za-z_]\w*)+)/) {
            unknown += unknownMembers(String(match.1), String(match.2), on: page)
        }
        for match in code.matches(of: #/[)}\]]:([A-Za-z_]\w*)/#) where !isKnown(String(match.1), on: page) {
            unknown.append(String(match.1))
        }
        for match in code.matches(of: /(?:^|[^.:\w])([A-Za-z_]\w*)[({]/) where !isKnown(String(match.1), on: page) {
            unknown.append(String(match.1))
        }
        for match in code.matches(of: #/[{,(] *([a-z_]\w*) = /#) where !isKnown(String(match.1), on: page) {
            unknown.append(String(match.1))
        }
        return Array(Set(unknown)).sorted()
    }

    /// The members, such as `fetch_all` in `db:fetch_all`, that their owner lacks.
    private func unknownMembers(_ owner: String, _ chain: String, on page: DocumentedPage) -> [String] {
        let parts = chain.matches(of: /([.:])([A-Za-z_]\w*)/).map { (String($0.1), String($0.2)) }
        let isOfSwift = parts.allSatisfy { $0.0 == "." && swift.contains($0.1) }
        var unknown: [String] = []
        for (index, part) in parts.enumerated() {
            let isMethod = part.0 == ":"
            let name = part.1
            if index == 0, let known = members[owner] {
                if !known.contains(name), !isOfSwift, !page.wordsOfBlocks.contains(name) {
                    unknown.append("\(owner)\(part.0)\(name)")
                }
            } else if isMethod || standard.contains(owner) || owner == "perilune" {
                if !isKnown(name, on: page) { unknown.append("\(owner)\(chain)") }
            }
        }
        return unknown
    }

    private static func baseName(_ component: Substring) -> String { String(component.prefix { $0 != "(" && $0 != "-" }) }

    /// Returns the path in a code span: it contains a slash or ends like a source file.
    private static func path(in code: String) -> String? {
        guard code.wholeMatch(of: /[\w.+\/*-]+/) != nil, !code.contains("..."), !code.hasPrefix("/") else { return nil }
        return code.contains("/") || code.contains(/\.(swift|c|h|lua|md|sql)$/) ? code : nil
    }

    /// Returns whether a path in the project equals this path or ends with it. `*` matches any component.
    private func isFile(_ path: String, on page: DocumentedPage) -> Bool {
        let path = path.hasSuffix("/") ? String(path.dropLast()) : path
        if path.contains("NAME") || path.contains("FILE") { return true }
        let last = path.split(separator: "/").last.map(String.init) ?? path
        // Files that the page itself shows, or that belong to its readers.
        if page.wordsOfBlocks.contains(String(last.prefix { $0 != "." })) { return true }
        if page.spans.contains(where: { $0.text != path && $0.text.contains(" " + path) }) { return true }
        if path.contains("*") {
            let pattern = NSRegularExpression.escapedPattern(for: path).replacing("\\*", with: "[^/]*")
            return paths.contains { $0.contains(try! Regex("(^|/)" + pattern + "$")) }
        }
        return paths.contains(path) || paths.contains { $0.hasSuffix("/" + path) }
    }
}
