import Foundation
import Testing

@testable import PeriluneCLI

@Suite struct LoadedFilesTests {
    private let folder: TestFolder
    private var files: LoadedFiles
    private var main: String { folder.path + "/main.lua" }
    private var module: String { folder.path + "/module.lua" }

    init() throws {
        folder = try TestFolder(["main.lua": "one", "module.lua": "one"])
        files = LoadedFiles(folder.path + "/main.lua")
        files.add([folder.path + "/module.lua"])
    }

    @Test mutating func `a changed file is reported once, when it has stopped changing`() throws {
        #expect(files.look() == [])
        #expect(files.look() == [])
        try folder.write("", to: "module.lua")
        #expect(files.look() == [])
        // Some editors empty a file before they write it.
        try folder.write("return {}", to: "module.lua")
        #expect(files.look() == [])
        #expect(files.look() == [module])
        #expect(files.look() == [])
    }

    @Test mutating func `nothing is reported while the main file is missing`() throws {
        try FileManager.default.removeItem(atPath: main)
        for _ in 0..<3 { #expect(files.look() == []) }
        try folder.write("return nil", to: "main.lua")
        #expect(files.look() == [])
        #expect(files.look() == [main])
    }

    @Test mutating func `changed and removed files are reported together`() throws {
        try folder.write("return {}", to: "main.lua")
        try FileManager.default.removeItem(atPath: module)
        #expect(files.look() == [])
        #expect(files.look() == [main, module])
        #expect(files.look() == [])
    }

    @Test mutating func `an added file is reported if it changes after it was added`() throws {
        try folder.write("return 1", to: "other.lua")
        files.add([folder.path + "/other.lua", main])
        for _ in 0..<2 { #expect(files.look() == []) }
        try folder.write("return 12", to: "other.lua")
        #expect(files.look() == [])
        #expect(files.look() == [folder.path + "/other.lua"])
    }
}
