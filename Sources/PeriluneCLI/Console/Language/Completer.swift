internal import Foundation

/// A completer of the name before the cursor in console input.
struct Completer {
    let names: any CompletionNames

    /// - Parameters:
    ///   - before: The text before the cursor.
    ///   - text: The whole text, because the table may be named after the cursor.
    func completions(of before: String, in text: String) -> Completions {
        if before.hasPrefix(":"), !before.hasPrefix("::") { return commandCompletions(of: before) }
        if case .sql = ConsoleInput(text) { return sqlCompletions(of: before, in: text) }
        return luaCompletions(of: before)
    }

    /// Returns the distinct candidates with a prefix, ignoring case.
    private func matching(_ prefix: String, _ candidates: [String]) -> Completions {
        var seen: Set<String> = []
        let wanted = prefix.lowercased()
        let found = candidates.filter { $0.lowercased().hasPrefix(wanted) && seen.insert($0).inserted }
        // Candidates that match the case of the prefix are preferred.
        let exact = found.filter { $0.hasPrefix(prefix) }
        return Completions(length: prefix.count, candidates: exact.isEmpty ? found : exact)
    }

    // MARK: - Commands

    private func commandCompletions(of text: String) -> Completions {
        guard let space = text.firstIndex(of: " ") else {
            return matching(text, ConsoleCommands.list.map { ":" + $0.name })
        }
        let name = text[text.index(after: text.startIndex)..<space]
        let argument = String(text[text.index(after: space)...])
        switch name {
        case "plan", "chart":
            return ConsoleInput(argument).isSQL ? sqlCompletions(of: argument, in: argument) : luaCompletions(of: argument)
        case "help": return matching(argument, ConsoleHelp.topics + ConsoleCommands.list.map(\.name) + HelpTopic.names)
        case "save", "read", "import": return fileCompletions(of: argument)
        default: return matching(argument, names.tables.map(\.name))
        }
    }

    // MARK: - SQL

    private static let wordsBeforeTables: Set<String> = ["from", "join", "into", "update", "table"]

    private func sqlCompletions(of text: String, in whole: String) -> Completions {
        let word = String(text.reversed().prefix { $0.isLetter || $0.isNumber || $0 == "_" }.reversed())
        let before = text.dropLast(word.count)
        let tables = names.tables, tokens = SolidTokens(whole)
        if before.hasSuffix(".") {
            let owner = String(before.dropLast().reversed().prefix { $0.isLetter || $0.isNumber || $0 == "_" }.reversed())
            let table = table(called: owner, in: tokens)
            return matching(word, tables.first { $0.name.lowercased() == table }?.columns ?? [])
        }
        let previous = SolidTokens(String(before)).list.last?.text.lowercased() ?? ""
        if Self.wordsBeforeTables.contains(previous) { return matching(word, tables.map { quoted($0.name) }) }
        guard !word.isEmpty else { return Completions() }
        let isLower = word == word.lowercased()
        func inCase(_ names: [String]) -> [String] { isLower ? names.map { $0.lowercased() } : names.map { $0.uppercased() } }
        if previous == "pragma" { return matching(word, names.sqlNames(.pragma)) }
        let mentioned = Set(tokens.list.map { $0.text.lowercased() })
        let used = tables.filter { mentioned.contains($0.name.lowercased()) }
        let columns = (used.isEmpty ? tables : used).flatMap(\.columns).map(quoted)
        return matching(
            word, columns + tables.map { quoted($0.name) } + inCase(SQLWords.all.sorted()) + inCase(names.sqlNames(.function)))
    }

    /// Returns the lowercase name of the table that a qualifier before a dot names, directly or by an alias.
    private func table(called name: String, in tokens: SolidTokens) -> String {
        let wanted = name.lowercased()
        if names.tables.contains(where: { $0.name.lowercased() == wanted }) { return wanted }
        let words = tokens.list.map { $0.text.lowercased() }
        for (index, word) in words.enumerated() where word == wanted && index > 0 {
            let owner = words[index - 1] == "as" && index > 1 ? words[index - 2] : words[index - 1]
            if names.tables.contains(where: { $0.name.lowercased() == owner }) { return owner }
        }
        return wanted
    }

    /// Returns a name quoted for SQL if necessary.
    private func quoted(_ name: String) -> String {
        let isPlain = name.utf8.allSatisfy { ($0 | 0x20) &- 0x61 < 26 || $0 &- 0x30 < 10 || $0 == 0x5F || $0 >= 0x80 }
        let isWord = SQLWords.all.contains(name.uppercased()) || name.first?.isNumber != false
        return isPlain && !isWord ? name : "\"" + name.replacing("\"", with: "\"\"") + "\""
    }

    // MARK: - Lua

    private func luaCompletions(of text: String) -> Completions {
        let characters = Array(text)
        let tokens = Array(LuaTokens(characters))
        if let last = tokens.last, last.kind == .string, !last.isClosed {
            return fileCompletions(of: String(characters[(last.range.lowerBound + 1)...]))
        }
        var index = tokens.count - 1
        var word = ""
        if index >= 0, case .name(let name) = tokens[index].kind, tokens[index].range.upperBound == characters.count {
            word = name
            index -= 1
        }
        guard index >= 0, let separator = sign(tokens[index], characters), separator == "." || separator == ":" else {
            let columns = columnsOfOpenCall(tokens[...index], characters)
            guard !word.isEmpty || !columns.isEmpty else { return Completions() }
            return matching(word, columns + (word.isEmpty ? [] : names.members(of: [], separator: "")))
        }
        guard let parts = parts(of: tokens[..<index], characters) else { return Completions() }
        return matching(word, names.members(of: parts, separator: separator))
    }

    /// Returns the parts of the expression that ends with the last token: an empty list if it does not start with a name, `nil` if the
    /// tokens do not end with an expression.
    private func parts(of tokens: ArraySlice<LuaTokens.Token>, _ characters: [Character]) -> [String]? {
        var parts: [String] = [], index = tokens.endIndex - 1
        guard index >= 0 else { return nil }
        while index >= 0 {
            var isCall = false
            if tokens[index].kind == .string {
                (isCall, index) = (true, index - 1)
            } else if let last = sign(tokens[index], characters), last == ")" || last == "}" {
                guard let start = opening(of: index, tokens, characters), start > 0 else { return [] }
                (isCall, index) = (true, start - 1)
            }
            guard index >= 0, case .name(let name) = tokens[index].kind else { return isCall ? [] : nil }
            let call = isCall ? "()" : ""
            guard index > 1, let before = sign(tokens[index - 1], characters), before == "." || before == ":" else {
                return [name + call] + parts
            }
            parts.insert(before + name + call, at: 0)
            index -= 2
        }
        return []
    }

    /// Returns the index of the bracket that matches a closing one.
    private func opening(of place: Int, _ tokens: ArraySlice<LuaTokens.Token>, _ characters: [Character]) -> Int? {
        var depth = 0
        for index in tokens.indices[...place].reversed() {
            switch sign(tokens[index], characters) {
            case ")", "}", "]": depth += 1
            case "(", "{", "[":
                depth -= 1
                if depth == 0 { return index }
            default: break
            }
        }
        return nil
    }

    private func sign(_ token: LuaTokens.Token, _ characters: [Character]) -> String? {
        token.kind == .sign ? String(characters[token.range]) : nil
    }

    /// Returns the columns to offer inside `Class:filter{` or a later call of the chain.
    private func columnsOfOpenCall(_ tokens: ArraySlice<LuaTokens.Token>, _ characters: [Character]) -> [String] {
        var depth = 0
        for index in tokens.indices.reversed() {
            switch sign(tokens[index], characters) {
            case "}", ")": depth += 1
            case "{", "(":
                depth -= 1
                guard depth < 0 else { continue }
                // The class precedes the bracket, as in `Class:method{`, possibly with other calls in between.
                for token in tokens[..<index].reversed() {
                    guard case .name(let name) = token.kind else { continue }
                    let members = names.members(of: [name, ".c"], separator: ".")
                    if !members.isEmpty { return members }
                }
                return []
            default: break
            }
        }
        return []
    }

    /// Returns the files whose paths start with the given text.
    private func fileCompletions(of path: String) -> Completions {
        let slash = path.lastIndex(of: "/")
        let folder = slash.map { String(path[...$0]) } ?? ""
        let name = String(path.dropFirst(folder.count))
        let found = (try? FileManager.default.contentsOfDirectory(atPath: folder.isEmpty ? "." : folder)) ?? []
        let candidates = found.filter { $0.hasPrefix(name) && (!$0.hasPrefix(".") || name.hasPrefix(".")) }.sorted()
        return Completions(length: name.count, candidates: candidates)
    }
}
