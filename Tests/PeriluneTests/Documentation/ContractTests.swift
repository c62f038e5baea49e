import Foundation
import Testing

/// Checks that comments in the sources follow the documentation conventions.
@Suite struct ContractTests {
    /// The Swift source files, by path.
    private static let files = Documentation.files(in: "Sources", ["swift"]).map { file in
        (path: file.path.replacing(projectFolder.path + "/", with: ""), text: Documentation.text(of: file))
    }

    /// The public declarations that are not described by a protocol.
    private static let declarations: [(path: String, declaration: PublicDeclarations.Declaration)] = {
        let read = files.map { ($0.path, PublicDeclarations($0.text)) }
        let requirements = PublicDeclarations.requirements(in: read.map(\.1))
        return read.flatMap { path, found in
            found.declarations.filter { !$0.isWitness(of: requirements) }.map { (path, $0) }
        }
    }()

    @Test func `each public declaration has a documentation comment`() {
        #expect(Self.declarations.count > 800)
        for (path, declaration) in Self.declarations { #expect(!declaration.comment.isEmpty, "\(path):\(declaration)") }
    }

    @Test func `each public throwing function documents its errors and their conditions`() {
        let throwing = Self.declarations.filter { $0.declaration.throwsErrors }
        #expect(throwing.count > 120)
        for (path, declaration) in throwing { #expect(declaration.saysWhatItThrows, "\(path):\(declaration)") }
    }

    @Test func `no public type has the name of one in swift-dependencies`() {
        let theirs: Set = [
            "Dependencies", "Dependency", "DependencyKey", "TestDependencyKey", "DependencyValues", "DependencyContext",
            "DependencyClient",
        ]
        let types: Set = ["struct", "class", "enum", "actor", "protocol", "typealias"]
        for (path, declaration) in Self.declarations where declaration.owner.isEmpty && types.contains(declaration.keyword) {
            #expect(!theirs.contains(declaration.name), "\(path):\(declaration)")
        }
    }

    @Test func `each source file begins with a comment on its purpose`() {
        for (path, text) in Self.files { #expect(Self.beginsWithPurpose(text), "\(path)") }
        for file in Documentation.files(in: "Sources", ["c", "h"]) {
            #expect(Documentation.text(of: file).hasPrefix("/*"), "\(file.path)")
        }
        for file in Documentation.files(in: "lib", ["lua"]) {
            #expect(Documentation.text(of: file).hasPrefix("---"), "\(file.path)")
        }
    }

    /// Whether a comment precedes the first declaration, with only imports before it.
    private static func beginsWithPurpose(_ text: String) -> Bool {
        let first = text.components(separatedBy: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.first {
            !$0.isEmpty && !$0.contains(/^(@\w+ +)*((public|package|internal|private) +)?import\b/) && !$0.hasPrefix("#")
                && !$0.hasPrefix("@")
        }
        return first?.hasPrefix("//") ?? false
    }

    // MARK: - The reader of declarations

    @Test func `undocumented declarations in types, extensions, protocols and enums are found`() {
        let found = PublicDeclarations(
            """
            /// Documented.
            public struct A {
                public var a: Int { didSet { let x = "public func no() {" } }
                /// Documented.
                @discardableResult
                public func b(_ f: () throws -> Void) -> Int { 1 }
                func c() {}
                public enum E {
                    case one(Int), two
                }
            }
            public protocol P {
                func required() throws
            }
            public extension A { func d() throws(E) {} }
            // public func commented()
            let text = \"\"\"
                public func quoted()
                \"\"\"
            """
        ).declarations
        let undocumented = found.filter(\.comment.isEmpty).map(\.name)
        #expect(undocumented == ["a", "E", "one", "two", "P", "required", "d"])
        #expect(found.filter(\.throwsErrors).map(\.name) == ["required", "d"])
    }

    @Test func `an implementation of a documented protocol requirement needs no comment, even through inheritance`() {
        let texts = [
            "/// P.\npublic protocol P {\n/// F.\nfunc f() throws\n}\nprotocol Q: P {}",
            "extension Int: Module.Q {\npublic func f() throws {}\npublic func g() {}\n}",
        ].map(PublicDeclarations.init)
        let requirements = PublicDeclarations.requirements(in: texts)
        #expect(texts[1].declarations.filter { !$0.isWitness(of: requirements) }.map(\.name) == ["g"])
    }
}
