// swift-format-ignore-file
// The documentation shows this example word for word, in shorter lines.
import Foundation
import GRDB
import Perilune
import PeriluneTestSupport
import Testing

private let notesSchema = Migrations.inTransaction { db in
    try db.execute(sql: "CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT NOT NULL, tags TEXT NOT NULL)")
}

/// A command-line tool with hooks for its users.
enum NotesExample {
    // example
    struct Note: Codable, Sendable, Equatable {
        var text: String
        var tags: [String] = []
    }

    /// `notes TEXT...`: keeps notes, and calls the functions of the user's
    /// hooks.lua before and after it keeps one.
    struct NotesTool {
        private let host: ScriptHost
        private let database: any DatabaseWriter

        init(hooks path: String) async throws {
            var configuration = ScriptHost.Configuration()
            configuration.limits = LuaLimits(
                memoryInBytes: 32 << 20, time: .seconds(2))
            host = try await ScriptHost(configuration)
            database = try await DependencyContainer.defaultDatabase
            if FileManager.default.fileExists(atPath: path) {
                try await host.run(file: path)
            }
        }

        func run(_ texts: [String]) async -> [String] {
            var lines: [String] = []
            for text in texts {
                do {
                    let note = try await keep(Note(text: text))
                    let tags = note.tags.joined(separator: ", ")
                    lines.append("kept: \(note.text) [\(tags)]")
                } catch {
                    lines.append("not kept: \(error)")
                }
            }
            return lines
        }

        private func keep(_ given: Note) async throws -> Note {
            let note =
                try await host.defines("will_keep")
                ? host.call("will_keep", given) : given
            try await database.write { db in
                try db.execute(
                    sql: "INSERT INTO note (text, tags) VALUES (?, ?)",
                    arguments: [note.text, note.tags.joined(separator: " ")])
            }
            if try await host.defines("did_keep") {
                try await host.call("did_keep", note)
            }
            return note
        }
    }
    // end

    @Suite(.defaultDatabase(migrations: notesSchema)) struct Tests {
        @Test func `in the notes example, hooks change and refuse notes, and are notified of them`() async throws {
            let tool = try await NotesTool(hooks: "\(folder)/hooks.lua")
            let lines = await tool.run(["buy tea #shop", "", "call Ada"])
            #expect(lines.count == 3)
            #expect(lines[0] == "kept: buy tea [shop]")
            #expect(lines[1].hasPrefix("not kept: ") && lines[1].hasSuffix("an empty note"))
            #expect(lines[2] == "kept: call Ada []")
            let database = try await DependencyContainer.defaultDatabase
            #expect(try await database.value("SELECT group_concat(text || tags) FROM note", as: String.self) == "buy teashop,call Ada")
        }

        @Test func `in the notes example, notes without hooks are unchanged`() async throws {
            let tool = try await NotesTool(hooks: "\(folder)/nowhere.lua")
            #expect(await tool.run(["buy tea #shop"]) == ["kept: buy tea #shop []"])
        }

        @Test(.timeLimit(.minutes(60))) func `an endless hook is ended, and the tool keeps running`() async throws {
            try await withTemporaryFolder { folder in
                try "function will_keep(note) while note.text == 'wait' do end return note end"
                    .write(toFile: "\(folder)/hooks.lua", atomically: true, encoding: .utf8)
                let tool = try await NotesTool(hooks: "\(folder)/hooks.lua")
                let lines = await tool.run(["wait", "go on"])
                #expect(lines[0].hasPrefix("not kept: "))
                #expect(lines[1] == "kept: go on []")
            }
        }
    }
}
