import Foundation
import Testing

/// Requests on a database that others have made, where it is on the machine: CamelCase names, keys of two columns, real data.
@Suite struct ChinookTests {
    /// Where `CHINOOK` says, or beside the project.
    static let path: String? = {
        let beside = projectFolder.deletingLastPathComponent().appending(path: "shared/data/chinook.sqlite").path
        let path = ProcessInfo.processInfo.environment["CHINOOK"] ?? beside
        return FileManager.default.fileExists(atPath: path) ? path : nil
    }()

    @Test(.enabled(if: path != nil, "the Chinook database is not here: set CHINOOK to its path"))
    func `the answers of requests agree with those of SQL`() async throws {
        let questions = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Chinook/questions.lua")
        let host = try testHost {
            $0.database = .file(Self.path!)
            $0.isReadonly = true
            $0.moduleFolder = projectFolder.appending(path: "scripts/examples/music_shop").path
        }
        try await host.run(file: questions.path)
    }
}
