import Foundation
import Testing
import PeriluneLuaFileTools

/// The contract of a C function describes its effect on the stack of a Lua state and whether it raises: `[-popped, +pushed,
/// raises]`.
@Suite struct ContractTests {
    @Test(arguments: ["CPeriluneShim", "CPeriluneRows", "CPeriluneRecords"])
    func `every C declaration that takes a Lua state documents its stack effect and its errors`(_ target: String) throws {
        let declarations = try CHeader.read(target).flatMap(\.declarations)
        #expect(declarations.count > 40)
        #expect(declarations.filter { !$0.hasContract }.map(\.description) == [])
    }

    @Test func `a declaration without a documented contract is reported by name`() {
        let header = CHeader(
            path: "x.h",
            text: """
                /* Pushes nothing. [-0, +0] */
                void half(lua_State *L);

                /* Pushes both. [-0, +1, m] */
                void first(lua_State *L);
                static inline bool second(lua_State *L,
                                          int index) {
                    return other(L);
                }

                void apart(lua_State *L);
                int beside(lua_State *L, int index); /* [-(index + 1), +n, -] */
                /*
                ** Of no state. [-0, +0, -]
                */
                int stateless(int index);
                typedef struct {
                    void (*callback)(lua_State *L);
                } callbacks;
                typedef int (*kind)(lua_State *L);
                """)
        #expect(header.declarations.map(\.name) == ["half", "first", "second", "apart", "beside"])
        #expect(header.declarations.filter { !$0.hasContract }.map(\.description) == ["x.h: half", "x.h: apart"])
    }
}

private struct CHeader {
    struct Declaration: CustomStringConvertible {
        let path: String
        let name: String
        let hasContract: Bool
        var description: String { "\(path): \(name)" }
    }

    let declarations: [Declaration]

    static func read(_ target: String) throws -> [CHeader] {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let folder = tests.deletingLastPathComponent().appending(path: "Sources/\(target)")
        return try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".h") }.sorted().map {
            path in
            CHeader(path: "\(target)/\(path)", text: try String(contentsOf: folder.appending(path: path), encoding: .utf8))
        }
    }

    /// A comment is the contract of the declarations that follow it without a blank line. A comment after a declaration, on the
    /// same line, belongs only to that declaration.
    init(path: String, text: String) {
        var declarations: [Declaration] = []
        var comment = "", statement = "", isInComment = false
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
            if isInComment || (statement.isEmpty && line.hasPrefix("/*")) {
                comment = isInComment ? comment + line : line
                isInComment = !line.contains("*/")
            } else if line.isEmpty {
                comment = ""
            } else if !statement.isEmpty || Self.beginsDeclaration(line) {
                statement += line
                guard line.contains(";") || line.contains("{") else { continue }
                if let name = Self.function(statement) {
                    declarations.append(
                        Declaration(path: path, name: name, hasContract: Self.hasEffect(comment) || Self.hasEffect(statement)))
                }
                statement = ""
            }
        }
        self.declarations = declarations
    }

    private static func beginsDeclaration(_ line: String) -> Bool {
        let word = line.prefix { $0.isLetter || $0 == "_" }
        return !word.isEmpty && !["typedef", "struct", "enum", "extern"].contains(word)
    }

    /// Returns the name of the function if it takes a Lua state.
    private static func function(_ statement: String) -> String? {
        statement.firstMatch(of: /(\w+)\([^){]*lua_State \*/).map { String($0.1) }
    }

    private static func hasEffect(_ text: String) -> Bool { text.contains(/\[-[^,\]]+, \+[^,\]]+, [-mev]\]/) }
}
