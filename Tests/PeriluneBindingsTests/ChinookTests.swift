import Foundation
import PeriluneLuaFileTools
import Testing

/// Requests on a typical existing database: CamelCase names, keys of two columns, declared types like NVARCHAR(160).
@Suite struct ChinookTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Chinook")

    @Test func `requests have the same results as SQL`() async throws {
        let host = try testHost {
            $0.moduleFolder = projectFolder.appending(path: "scripts/examples/music_shop").path
        }
        let shop = try String(contentsOf: Self.folder.appending(path: "shop.lua"), encoding: .utf8)
        try await host.run(source: "make_shop = (function() \(shop) end)() make_shop(db)", named: "shop.lua")
        try await host.run(file: Self.folder.appending(path: "questions.lua").path)
    }
}
