import Foundation

/// The public declarations in Swift source text, with their comments, found by a simple text scan.
struct PublicDeclarations {
    /// One declaration.
    struct Declaration: CustomStringConvertible {
        /// `func`, `case`, `struct`, ...
        let keyword: String
        let name: String
        let line: Int
        /// The text from the first modifier to the body, on one line.
        let signature: String
        /// The lines of the preceding comment, without `///`.
        let comment: [String]
        /// The enclosing type, extension or protocol; empty at file scope.
        let owner: String
        /// The protocols and types after the colon of the owner.
        let conformances: [String]
        let isRequirement: Bool

        var description: String { "\(line): \(signature.prefix(100))" }

        /// Whether a call may throw.
        var throwsErrors: Bool {
            guard ["func", "init", "subscript", "var"].contains(keyword) else { return false }
            return signature.contains(/\bthrows\b/) && PublicDeclarations.outsideParentheses(signature).contains(/\bthrows\b/)
        }

        var saysWhatItThrows: Bool { comment.contains { $0.contains("- Throws:") } }

        /// Returns whether the declaration implements a protocol requirement, which has the documentation.
        ///
        /// - Parameter requirements: The requirements of this package's protocols, by protocol name.
        func isWitness(of requirements: [String: Set<String>]) -> Bool {
            // A protocol extension implements the requirements of its protocol.
            let protocols = ([owner] + conformances).compactMap { $0.split(separator: ".").last.map(String.init) }
            if !isRequirement, protocols.contains(where: { requirements[$0]?.contains(name) == true }) { return true }
            if PublicDeclarations.witnesses.contains(name) { return true }
            return keyword == "init" && signature.contains(/init\((from decoder: |rawValue: |[a-zA-Z]*Literal )/)
        }
    }

    /// Requirements of external protocols, which are documented there.
    static let witnesses: Set<String> = [
        "description", "debugDescription", "hash", "==", "<", "encode", "rawValue", "allCases", "errorDescription", "index",
        "startIndex",
        "endIndex", "makeIterator", "makeAsyncIterator", "next", "Element", "AsyncIterator", "Iterator", "Index",
        "subscript(position)",
    ]

    let declarations: [Declaration]
    /// The protocols that each protocol in the text inherits, including protocols that are not public.
    let inherited: [String: [String]]

    /// Returns the requirements of the protocols in the texts, including inherited requirements, by protocol name.
    static func requirements(in texts: [PublicDeclarations]) -> [String: Set<String>] {
        var own: [String: Set<String>] = [:]
        let parents = texts.reduce(into: [String: [String]]()) { $0.merge($1.inherited) { $0 + $1 } }
        for declaration in texts.flatMap(\.declarations) where declaration.isRequirement {
            own[declaration.owner, default: []].insert(declaration.name)
        }
        func all(_ name: String) -> Set<String> {
            (parents[name] ?? []).reduce(own[name] ?? []) { $0.union(all($1)) }
        }
        return Dictionary(uniqueKeysWithValues: Set(own.keys).union(parents.keys).map { ($0, all($0)) })
    }

    init(_ text: String) {
        var reader = Reader(text)
        declarations = reader.read()
        inherited = reader.inherited
    }

    /// Returns a signature without the parts in parentheses, where closures may throw.
    fileprivate static func outsideParentheses(_ text: String) -> String {
        var depth = 0
        return String(
            text.filter { character in
                if character == "(" { depth += 1 }
                defer { if character == ")" { depth -= 1 } }
                return depth == 0
            })
    }
}

/// An owner of members.
private struct Owner {
    let name: String
    let conformances: [String]
    let isPublic, isProtocol, isEnum, isPublicExtension: Bool

    /// Returns the name and the names after the colon: `Name` and `A`, `B` in `extension Name: A, B where ...`.
    static func names(in signature: String, keyword: String) -> (String, [String]) {
        let text = signature.split(separator: " where ").first.map(String.init) ?? signature
        guard let match = text.firstMatch(of: try! Regex("\\b\(keyword) +([\\w.]+)(?:<[^>]*>)?(?: *: *(.*))?$")),
            let name = match[1].substring
        else { return ("", []) }
        let inherited = match[2].substring.map(String.init) ?? ""
        let names = inherited.matches(of: /[A-Za-z_.]+/).map { String($0.0.split(separator: ".").last ?? "") }.filter {
            !["any", "nonisolated", "unchecked"].contains($0)
        }
        return (String(name), names)
    }
}

/// Reads source text line by line and tracks the open braces.
private struct Reader {
    /// The kinds of open braces.
    enum Scope {
        /// A type, an extension or a protocol, whose members may be public.
        case members(Owner)
        /// The body of a function, a closure, a literal.
        case code
    }

    private let lines: [String]
    /// The lines without string literals and comments.
    private let code: [String]
    /// The original line number of each line.
    private let numbers: [Int]
    private var scopes: [Scope] = []
    private var comment: [String] = []
    var inherited: [String: [String]] = [:]

    init(_ text: String) {
        var lines: [String] = [], code: [String] = [], numbers: [Int] = []
        let all = zip(
            text.components(separatedBy: "\n"), SourceText.withoutStringsAndComments(text).components(separatedBy: "\n"))
        for (index, (line, plain)) in all.enumerated() {
            let parts = Self.apart(plain)
            lines += [line] + parts.dropFirst()
            code += parts
            numbers += parts.map { _ in index + 1 }
        }
        (self.lines, self.code, self.numbers) = (lines, code, numbers)
    }

    /// Splits a line after the opening brace of a type, so that its members are on a separate line: `func f() {} }` in
    /// `extension A { func f() {} }`.
    private static func apart(_ line: String) -> [String] {
        guard let brace = line.firstIndex(of: "{"), let head = Head(line.trimmingCharacters(in: .whitespaces)), head.hasMembers
        else { return [line] }
        let members = line[line.index(after: brace)...]
        if members.allSatisfy({ $0 == " " || $0 == "}" }) { return [line] }
        return [String(line[...brace]), String(members)]
    }

    mutating func read() -> [PublicDeclarations.Declaration] {
        var found: [PublicDeclarations.Declaration] = []
        var index = 0
        while index < lines.count {
            let line = lines[index].trimmingCharacters(in: .whitespaces)
            if line.hasPrefix("///") {
                comment.append(String(line.dropFirst(3)))
                index += 1
                continue
            }
            let text = code[index].trimmingCharacters(in: .whitespaces)
            // Attributes and conditions may separate a comment from its declaration.
            if text.isEmpty && !line.hasPrefix("//") { comment = [] }
            if text.isEmpty || text.hasPrefix("#") || text.wholeMatch(of: /@\w+(\(.*\))?/) != nil {
                index += 1
                continue
            }
            let declaration = Head(text)
            let (signature, last) = declaration == nil ? (text, index) : wholeSignature(from: index)
            if let declaration, isInMembers {
                found += make(declaration, signature, line: numbers[index])
            }
            comment = []
            open(declaration, signature, lines: index...last)
            index = last + 1
        }
        return found
    }

    /// Whether members of a type can be declared here.
    private var isInMembers: Bool {
        if case .code? = scopes.last { return false }
        return true
    }

    private func make(_ head: Head, _ signature: String, line: Int) -> [PublicDeclarations.Declaration] {
        guard isPublic(head), head.keyword != "extension", head.keyword != "import", head.keyword != "deinit" else { return [] }
        let names = head.keyword == "case" ? Head.caseNames(signature) : [head.name(in: signature)]
        return names.map {
            .init(
                keyword: head.keyword, name: $0, line: line, signature: signature, comment: comment, owner: owner.name,
                conformances: owner.conformances, isRequirement: owner.isProtocol)
        }
    }

    private func isPublic(_ head: Head) -> Bool {
        if head.isPublic { return true }
        let owner = owner
        return owner.isPublic && (owner.isProtocol || (owner.isEnum && head.keyword == "case") || owner.isPublicExtension)
    }

    /// Returns the text of a declaration up to its body, and its last line.
    private func wholeSignature(from start: Int) -> (String, Int) {
        var parts: [String] = [], depth = 0
        for index in start..<min(start + 20, code.count) {
            let text = code[index].trimmingCharacters(in: .whitespaces)
            parts.append(text)
            for character in text {
                if "([".contains(character) { depth += 1 }
                if ")]".contains(character) { depth -= 1 }
            }
            let continues =
                depth > 0 || text.hasSuffix(",") || text.hasSuffix("->")
                || (index + 1 < code.count
                    && code[index + 1].trimmingCharacters(in: .whitespaces).contains(/^(->|throws|async|where|\{ *$)/))
            if !continues || text.hasSuffix("{") { return (Self.upToBody(parts.joined(separator: " ")), index) }
        }
        return (parts.joined(separator: " "), start)
    }

    private static func upToBody(_ text: String) -> String {
        var depth = 0
        for (offset, character) in text.enumerated() {
            if "([".contains(character) { depth += 1 }
            if ")]".contains(character) { depth -= 1 }
            if character == "{" && depth == 0 {
                // The effects of accessors belong to the signature of a variable: `{ get throws }`.
                let rest = text.dropFirst(offset)
                return String(rest.contains("get") && rest.contains("throws") ? text[...] : text.prefix(offset))
                    .trimmingCharacters(in: .whitespaces)
            }
        }
        return text
    }

    private mutating func open(_ head: Head?, _ signature: String, lines range: ClosedRange<Int>) {
        var isFirst = true
        for index in range {
            for character in code[index] {
                if character == "{" {
                    scopes.append(isFirst ? scope(of: head, signature) : .code)
                    isFirst = false
                } else if character == "}" {
                    _ = scopes.popLast()
                }
            }
        }
    }

    private mutating func scope(of head: Head?, _ signature: String) -> Scope {
        guard let head, head.hasMembers else { return .code }
        let (name, conformances) = Owner.names(in: signature, keyword: head.keyword)
        if head.keyword == "protocol" { inherited[name] = conformances }
        return .members(
            Owner(
                name: name, conformances: conformances, isPublic: isPublic(head), isProtocol: head.keyword == "protocol",
                isEnum: head.keyword == "enum", isPublicExtension: head.keyword == "extension" && head.isPublic))
    }

    private var owner: Owner {
        if case .members(let owner)? = scopes.last { return owner }
        return Owner(name: "", conformances: [], isPublic: false, isProtocol: false, isEnum: false, isPublicExtension: false)
    }
}

/// The start of a declaration: its modifiers and its keyword.
private struct Head {
    let keyword: String
    let isPublic: Bool

    /// Whether the declaration is a type, an extension or a protocol.
    var hasMembers: Bool { ["struct", "class", "actor", "enum", "extension", "protocol"].contains(keyword) }

    private static let modifiers: Set<String> = [
        "public", "open", "package", "internal", "private", "fileprivate", "static", "class", "final", "nonisolated", "mutating",
        "nonmutating", "override", "convenience", "required", "indirect", "lazy", "weak", "unowned", "prefix", "postfix", "infix",
        "dynamic", "isolated", "consuming", "borrowing", "sending", "distributed",
    ]
    private static let keywords: Set<String> = [
        "struct", "class", "actor", "enum", "protocol", "extension", "func", "init", "subscript", "var", "let", "typealias",
        "case",
        "associatedtype", "import", "deinit", "macro", "operator",
    ]

    init?(_ text: String) {
        let withoutAttributes = text.hasPrefix("@") ? text.replacing(/^(@\w+(\([^)]*\))? +)+/, with: "") : text
        // The first word shows that most lines declare nothing.
        let letters = withoutAttributes.drop { !Self.isInWord($0) }
        let first = String(letters.prefix(while: Self.isInWord))
        guard Self.modifiers.contains(first) || Self.keywords.contains(first) else { return nil }
        let words = withoutAttributes.matches(of: /[A-Za-z_]+(\([a-z]+\))?/).map { String($0.0) }
        var isPublic = false
        for (index, word) in words.enumerated() {
            let plain = word.prefix { $0 != "(" }
            // `class func` is a method, `class Name` is a type.
            let isModifier = Self.modifiers.contains(String(plain)) && !(plain == "class" && !isFollowed(words, index))
            if isModifier {
                if word == "public" || word == "open" { isPublic = true }
                continue
            }
            guard Self.keywords.contains(String(plain)), index == 0 || withoutAttributes.hasPrefix(words[0]) else { return nil }
            (keyword, self.isPublic) = (String(plain), isPublic)
            return
        }
        return nil

        func isFollowed(_ words: [String], _ index: Int) -> Bool {
            index + 1 < words.count && ["func", "var", "subscript"].contains(words[index + 1])
        }
    }

    private static func isInWord(_ character: Character) -> Bool {
        character == "_" || (character.isASCII && character.isLetter)
    }

    /// Returns the name that a signature declares.
    func name(in signature: String) -> String {
        if keyword == "init" || keyword == "subscript" { return keyword }
        let pattern = "\\b\(keyword) +`?([\\w]+|[-+*/=<>!&|^~%]+)"
        guard let match = try? Regex(pattern).firstMatch(in: signature), let range = match[1].range else { return keyword }
        return String(signature[range])
    }

    /// Returns the names of the cases on a line: `a` and `b` in `case a(Int), b`.
    static func caseNames(_ signature: String) -> [String] {
        PublicDeclarations.outsideParentheses(signature).replacing(/^.*\bcase +/, with: "").split(separator: ",").map {
            $0.trimmingCharacters(in: .whitespaces).prefix { $0 != " " && $0 != "=" && $0 != ":" }.description
        }
    }
}

/// Swift source text.
enum SourceText {
    /// Returns the same text with spaces in place of string literals and comments; line ends are kept.
    static func withoutStringsAndComments(_ text: String) -> String {
        let bytes = Array(text.utf8)
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var index = 0

        func has(_ word: String) -> Bool {
            bytes[index] == word.utf8.first && bytes[index...].starts(with: word.utf8)
        }
        func skip(_ count: Int) {
            for byte in bytes[index..<min(index + count, bytes.count)] { result.append(byte == 10 ? 10 : 32) }
            index += count
        }

        while index < bytes.count {
            if has("//") {
                while index < bytes.count, bytes[index] != 10 { skip(1) }
            } else if has("/*") {
                while index < bytes.count, !has("*/") { skip(1) }
                skip(2)
            } else if has("\"\"\"") {
                skip(3)
                while index < bytes.count, !has("\"\"\"") { skip(has("\\") ? 2 : 1) }
                skip(3)
            } else if bytes[index] == UInt8(ascii: "\"") {
                skip(1)
                var depth = 0
                while index < bytes.count, bytes[index] != 10, depth > 0 || bytes[index] != UInt8(ascii: "\"") {
                    if has("\\(") {
                        depth += 1
                    } else if depth > 0, has("(") {
                        depth += 1
                    } else if depth > 0, has(")") {
                        depth -= 1
                    }
                    skip(has("\\") ? 2 : 1)
                }
                skip(1)
            } else {
                result.append(bytes[index])
                index += 1
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}
