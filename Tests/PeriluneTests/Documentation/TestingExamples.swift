// swift-format-ignore-file
// The documentation shows these examples word for word, in shorter lines.
import Foundation
import Perilune
import PeriluneTestSupport
import Testing

enum TestingExamples {
    static let schema = library

    typealias Month = QuickStartExamples.Month
    typealias MonthReport = QuickStartExamples.MonthReport

    // example
    @Suite(.defaultDatabase(migrations: "\(folder)/migrations"))
    struct MonthTests {
        @Test(.script(file: "\(folder)/seed.lua"))
        func `closing a month sends a letter for each sale`() async throws {
            let mail = CallRecorder()
            let host = try await ScriptHost()
            try await host.register(module: "mail") {
                $0.record("send", in: mail)
            }
            let report: MonthReport = try await host.run(
                file: "\(folder)/close_month.lua", arguments: Month(year: 2026, month: 3))
            #expect(report.lines.count == 2)
            #expect(mail.calls.map(\.arguments)
                == [["Verne", "You owe 12.50."], ["Camus", "You owe 8.00."]])
        }
    }
    // end

    @Suite(.defaultDatabase(migrations: "\(folder)/migrations"))
    struct DatedTests {
        // example
        @Test(.dependency(\.date, .constant(Date(timeIntervalSince1970: 0))))
        func `notes are dated`() async throws {
            let day: String = try await ScriptHost().run(
                source: "return db:fetch_value('SELECT CURRENT_DATE')")
            #expect(day == "1970-01-01")
        }
        // end
    }

    @Suite struct Others {
        // example
        @Test(.defaultDatabase(
            .pool("shop.sqlite", migrations: schema, usesFilesInTests: true)))
        // end
        func `a file`() async throws {
            #expect(try await DependencyContainer.defaultDatabase.value("PRAGMA journal_mode", as: String.self) == "wal")
        }

        // example
        @Test(.defaultDatabase(migrations: library), .script("db:execute[[INSERT INTO author (name) VALUES ('Verne')]]"))
        // end
        func `a script`() async throws {
            #expect(try await DependencyContainer.defaultDatabase.value("SELECT name FROM author", as: String.self) == "Verne")
        }

        // example
        @Test(.dependencies {
            $0.date = .constant(Date(timeIntervalSince1970: 0))
            $0.random = .seeded(7)
        })
        // end
        func `several values`() async throws {
            #expect(try await DependencyContainer.date() == Date(timeIntervalSince1970: 0))
            let random = try await DependencyContainer.random, seeded = RandomSource.seeded(7)
            #expect(random.next() == seeded.next())
        }

        @Test func `stand-ins replace functions of a program`() async throws {
            // example
            let mail = CallRecorder()
            let host = try await ScriptHost.forTest(migrations: schema)
            try await host.register(module: "mail") {
                $0.record("count", in: mail, returning: 3)
            }
            let count: Int = try await host.run(
                source: "return require('mail').count('inbox')")
            #expect(count == 3)
            #expect(mail.calls.first?.description == "count(\"inbox\")")
            // end
        }

        private struct OutOfStock: LuaErrorDescribing {
            let article: String
            var luaKind: String { "out_of_stock" }
            var luaMessage: String { "no \(article) is left" }
        }

        @Test func `a function that fails`() async throws {
            // example
            let mail = CallRecorder(), host = try await ScriptHost.forTest()
            try await host.register(module: "mail") {
                $0.record("send", in: mail, throwing: OutOfStock(article: "tea"))
            }
            let kind: String = try await host.run(source: """
                local ok, failure = pcall(require("mail").send, "Verne")
                return failure.kind
                """)
            #expect(kind == "out_of_stock" && mail.calls.count == 1)
            // end
        }

        @Test(.defaultDatabase()) func `time passes while a script sleeps`() async throws {
            let host = try await ScriptHost()
            // example
            try await host.run(source: """
                reminders = 0
                perilune.every("1h", function() reminders = reminders + 1 end)
                perilune.sleep("3h30m")
                """)
            let reminders: Int = try await host.run(source: "return reminders")
            #expect(reminders == 3)
            // end
        }

        private typealias TenantService = TenantExample

        @Test func `an error that a test makes`() {
            // example
            let error = LuaError(
                .runtime, "another sale has this number",
                fields: ["kind": "constraint_unique"])
            #expect(error.kind == .uniqueConstraint)
            #expect(TenantService.answer(to: error).status == 422)
            // end
        }
    }
}
