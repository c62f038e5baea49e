import Foundation
import Perilune
import Synchronization
import Testing

@Suite struct QuickStartTests {
    /// What the quick start uses without defining it.
    private struct Mailer: Sendable {
        let sent: Sent

        func send(_ to: String, _ body: String) async throws { sent.add("\(to): \(body)") }
    }

    private static func makeFiles(in folder: String) throws {
        try FileManager.default.createDirectory(atPath: "\(folder)/migrations", withIntermediateDirectories: true)
        try "CREATE TABLE sale (customer TEXT, total REAL, day TEXT); INSERT INTO sale VALUES ('Verne', 12.5, '2026-03-07')"
            .write(toFile: "\(folder)/migrations/0001_sales.sql", atomically: true, encoding: .utf8)
        try """
            local month = ...
            local lines = db:fetch_all("SELECT customer, total FROM sale WHERE day LIKE ?",
              ("%d-%02d-%%"):format(month.year, month.month))
            for _, line in ipairs(lines) do require("mail").send(line.customer, "you owe " .. line.total) end
            return { title = "March", lines = lines }
            """.write(toFile: "\(folder)/close_month.lua", atomically: true, encoding: .utf8)
    }

    @Test func `the quick start of the README runs`() async throws {
        let sent = Sent()
        let mailer = Mailer(sent: sent)
        let found = try await withTemporaryFolder { folder in
            try Self.makeFiles(in: folder)
            // As in the README, but for the folder.
            try await Dependencies.prepare { $0.defaultDatabase = .pool("shop.sqlite", migrations: "\(folder)/migrations") }
            let host = try await ScriptHost()
            await host.register(module: "mail") { mail in
                mail.function("send", "Queues a letter.", effect: .external) { (to: String, body: String) async throws in
                    try await mailer.send(to, body)
                }
            }
            let report: MonthReport = try await host.run(file: "\(folder)/close_month.lua", arguments: Month(2026, 3))
            return report
        }
        #expect(found == MonthReport(title: "March", lines: [.init(customer: "Verne", total: 12.5)]))
        #expect(sent.lines == ["Verne: you owe 12.5"])
        #expect(!FileManager.default.fileExists(atPath: "shop.sqlite"))
    }

    @Test func `the README shows what runs`() throws {
        let readme = try String(contentsOf: projectFolder.appending(path: "README.md"), encoding: .utf8)
        let section = try #require(readme.components(separatedBy: "## In a Swift program").dropFirst().first)
        let shown = try #require(section.components(separatedBy: "```").dropFirst().first).split(separator: "\n").dropFirst(2)
        let source = try String(contentsOfFile: #filePath, encoding: .utf8)
            .replacingOccurrences(of: "\\(folder)/", with: "")
            .split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        #expect(shown.count == 8)
        for line in shown {
            #expect(source.contains(line.trimmingCharacters(in: .whitespaces)), "\(line)")
        }
    }

    private var projectFolder: URL {
        URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    }
}

/// What was sent.
private final class Sent: Sendable {
    private let list = Mutex<[String]>([])
    var lines: [String] { list.withLock { $0 } }
    func add(_ line: String) { list.withLock { $0.append(line) } }
}
