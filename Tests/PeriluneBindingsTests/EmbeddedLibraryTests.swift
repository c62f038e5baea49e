import Foundation
import PeriluneBindings
import PeriluneLua
import Testing

@Suite struct EmbeddedLibraryTests {
    private static let library = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
        .appending(path: "lib")

    /// The names of the modules in `lib/perilune` and their files.
    private static let modules: [(name: String, file: String)] = {
        let files =
            FileManager.default.enumerator(atPath: library.appending(path: "perilune").path())?.compactMap { $0 as? String } ?? []
        return files.filter { $0.hasSuffix(".lua") && !$0.hasPrefix("native/") }.map { file in
            let path = "perilune/\(file)"
            let name = path.dropLast(".lua".count).replacing("/", with: ".")
            return (name.hasSuffix(".init") ? String(name.dropLast(".init".count)) : String(name), path)
        }
    }()

    @Test func `every module of the library is embedded with the text of its file`() throws {
        #expect(Self.modules.count > 100)
        for (name, file) in Self.modules {
            let text = try String(contentsOf: Self.library.appending(path: file), encoding: .utf8)
            #expect(LibraryModules.perilune.source(of: name) == text, "\(file)")
        }
    }

    @Test func `the bytecode of every module matches its text`() throws {
        let state = try LuaState()
        for (name, file) in Self.modules {
            let text = try #require(LibraryModules.perilune.source(of: name))
            let compiled = try state.loadLibrary(text, named: file).compiled(named: file)
            #expect(LibraryModules.perilune.bytecode(of: name) == compiled?.bytes, "\(file)")
        }
    }

    @Test func `an unknown module name is not found`() {
        #expect(LibraryModules.perilune.source(of: "perilune.nothing") == nil)
        #expect(LibraryModules.perilune.bytecode(of: "perilune.nothing") == nil)
        #expect(LibraryModules.perilune.source(of: "scenarios.expectations.check") == nil)
    }
}
