import Foundation
import Testing
import PeriluneLuaFileTools

@Suite struct EmbeddedLibraryTests {
    @Test func `the lists of embedded modules are those that the script writes`() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let (process, output) = (Process(), Pipe())
        process.executableURL = root.appending(path: "scripts/embed")
        process.arguments = ["--check"]
        process.standardError = output
        try process.run()
        let message = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "\(String(decoding: message, as: UTF8.self))")
    }
}
