// swift-format-ignore-file
// The documentation shows these examples word for word, in shorter lines.
import Foundation
import Perilune
import PeriluneTestSupport
import Synchronization
import Testing

/// Declarations that the examples use without defining them.
struct Mailer: Sendable {
    let send: @Sendable (_ to: String, _ body: String) async throws -> Void

    init(_ send: @escaping @Sendable (String, String) async throws -> Void) {
        self.send = send
    }

    static let smtp = Mailer { _, _ in throw CancellationError() }
    static let discarding = Mailer { _, _ in }
}

/// Keeps all letters that were sent.
final class Outbox: Sendable {
    private let list = Mutex<[String]>([])
    var letters: [String] { list.withLock { $0 } }
    var mailer: Mailer { Mailer { [self] to, body in list.withLock { $0.append("\(to): \(body)") } } }
}

@Suite struct QuickStartExamples {
    // example
    struct Month: Codable { var year, month: Int }
    struct Sale: Codable { var customer: String, total: Double }
    struct MonthReport: Codable { var title: String, lines: [Sale] }
    // end

    @Test func `the quick start`() async throws {
        let outbox = Outbox(), mailer = outbox.mailer
        // example
        let host = try await ScriptHost(
            database: .pool("shop.sqlite", migrations: "\(folder)/migrations"))
        try await host.register(module: "mail") {
            $0.function("send", "Queues a letter.", effect: .external) {
                (to: String, body: String) in try await mailer.send(to, body)
            }
        }
        let report: MonthReport = try await host.run(
            file: "\(folder)/close_month.lua", arguments: Month(year: 2026, month: 3))
        // end
        #expect(report.title == "2026-03")
        #expect(report.lines.map(\.customer) == ["Verne"] && report.lines.map(\.total) == [12.5])
        #expect(outbox.letters == ["Verne: You owe 12.50."])
        #expect(!FileManager.default.fileExists(atPath: "shop.sqlite"))
    }

    @Test func `the quick start, live`() async throws {
        try await withTemporaryFolder { folder in
            try makeExampleFiles(in: folder)
            try await DependencyContainer.inProcess(.live) {
                // example
                let host = try await ScriptHost(database: .pool("\(folder)/shop.sqlite"))
                try await host.run(source: "print(db:fetch_value('SELECT COUNT(*) FROM sqlite_master'))")
                // end
                #expect(FileManager.default.fileExists(atPath: "\(folder)/shop.sqlite"))
            }
        }
    }

    // example
    @Test(.defaultDatabase(migrations: "\(folder)/migrations"), .script(file: "\(folder)/seed.lua"))
    func `closing a month sends a letter for each sale`() async throws {
        let mail = CallRecorder(), host = try await ScriptHost()
        try await host.register(module: "mail") { $0.record("send", in: mail) }
        try await host.run(
            file: "\(folder)/close_month.lua", arguments: Month(year: 2026, month: 3))
        #expect(mail.calls.map(\.function) == ["send", "send"])
    }
    // end
}
