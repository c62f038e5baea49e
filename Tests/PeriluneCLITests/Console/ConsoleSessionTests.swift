import PeriluneTestTools
import Testing

@testable import PeriluneCLI

/// A long console session on the music shop, simulated by keys: from a first look to a change that is tried on a copy, applied
/// and checked.
@Suite(.patience, .startsPrograms) struct ConsoleSessionTests {
    /// A folder with the music shop and a module of its user.
    private static func makeFolder() throws -> TestFolder {
        let folder = try TestFolder(["prices.lua": "return { raise = function(cents) return cents * 11 // 10 end }"])
        let shop = TestFolder.checkout + "/scripts/examples/music_shop"
        let made = try folder.perilune(
            "run", "--database", "music.sqlite", "-e", "package.path = '\(shop)/?.lua'", "-e",
            "require('shop').build(db, { tracks = 300 })")
        try #require(made.status == 0, "\(made.errors)")
        return folder
    }

    @Test func `a session with the music shop works from the first look to an applied change`() throws {
        let folder = try Self.makeFolder()
        let console = try ConsoleProcess(["music.sqlite"], prompt: "music.sqlite> ", in: folder, columns: 100)

        // A first look.
        let models = console.run(":models")
        #expect(models.contains { $0.contains("│ Track ") && $0.contains("album") }, "\(models)")
        let schema = console.run(":schema genre")
        #expect(schema.first == "CREATE TABLE genre (" && schema.last?.hasSuffix(";") == true, "\(schema)")
        #expect(console.run("Track:fetch_count()") == ["300"])
        let genres = console.run(
            "SELECT g.name, count(*) AS n FROM track t JOIN genre g ON g.id = t.genre_id GROUP BY 1 ORDER BY 2 DESC LIMIT 3")
        #expect(genres.count == 8 && genres.last == "3 rows", "\(genres)")

        // Mistakes and the suggestions for them.
        let column = console.run("SELECT titel FROM track")
        #expect(column.contains { $0.hasPrefix("  help  did you mean `title`?") }, "\(column)")
        #expect(console.run("Trak").last == "unknown variable `Trak`; did you mean `Track`?")

        // Names are completed, and the history is searched.
        _ = console.type("Custo\t", until: "music.sqlite> Customer")
        _ = console.type("\u{3}", until: console.prompt)
        #expect(console.run("country = 'Brazil'") == [])
        let found = console.run("SELECT count(*) AS n FROM customer WHERE country = :country")
        #expect(found.last == "1 row", "\(found)")
        console.process.press("\u{12}genre")
        let isFound = { (screen: TerminalScreen) in
            let shown = screen.lines.suffix(2).joined()
            return shown.contains("(search)") && shown.contains("JOIN genre")
        }
        #expect(isFound(console.process.screen(where: isFound)))
        _ = console.type("\u{7}", until: console.prompt)

        // Records and their associations.
        let track = console.run("track = Track:including_required(Track.album):order('id'):fetch_one()")
        #expect(track == [], "\(track)")
        #expect(console.run("track.album.id == track.album_id") == ["true"])
        let request = console.run("Track:filter{ album_id = track.album_id }:select('title'):limit(2)")
        #expect(
            request.first?.hasPrefix("SELECT \"track\".\"title\" FROM \"track\" WHERE \"track\".\"album_id\" = ") == true,
            "\(request)")
        let plan = console.run(":plan SELECT * FROM track WHERE genre_id = 1")
        #expect(plan.joined().contains("USING INDEX track_genre"), "\(plan)")

        // Several lines; a module that changes in the meantime.
        #expect(console.run("prices = require('prices')") == [])
        #expect(console.run("prices.raise(100)") == ["110"])
        try folder.write("return { raise = function(cents) return cents * 12 // 10 end }", to: "prices.lua")
        #expect(console.run(":reload") == ["reloaded: prices"])
        #expect(console.run("require('prices').raise(100)") == ["120"])
        #expect(console.run("for i = 1, 2 do print('line ' .. i) end") == ["line 1", "line 2"])
        #expect(
            console.run("for _ = 1, 1 do print('all') io.write('total: 42') end") == ["all", "total: 42"],
            "a line without an end stays")

        // A statement that does not end.
        console.process.press("while true do os.time() end\r")
        console.process.screen { $0.lines.last?.hasSuffix("while true do os.time() end") == true && $0.column == 0 }
        console.process.press("\u{3}")
        console.process.screen { $0.lines.contains("interrupted") && $0.lineBeforeCursor == console.prompt }

        // A change is tried on a copy, inspected and applied.
        let (preview, changed) = ("music.sqlite preview> ", "music.sqlite preview*> ")
        _ = console.run(":preview", prompt: preview)
        #expect(
            console.run("UPDATE track SET price_cents = price_cents + 10 WHERE genre_id = 1", prompt: changed).last?.hasSuffix(
                "changed") == true)
        let changes = console.run(":changes", prompt: changed)
        #expect(
            changes.first?.hasPrefix("Would change in music.sqlite: ") == true && changes.contains { $0.contains(" → ") },
            "\(changes.prefix(8))")
        let before = try folder.perilune(
            "query", "--database", "music.sqlite", "--format", "csv", "SELECT sum(price_cents) FROM track"
        ).output
        console.process.press(":apply\r")
        console.process.screen { $0.lineBeforeCursor.hasSuffix("[y/N] ") }
        #expect(console.run("y", prompt: preview).contains { $0.hasPrefix("applied to music.sqlite: track ~") })
        _ = console.run(":live")
        let after = try folder.perilune(
            "query", "--database", "music.sqlite", "--format", "csv", "SELECT sum(price_cents) FROM track"
        ).output
        #expect(before != after)

        // A statement that would change all rows needs a confirmation. The session ends.
        console.process.press("DELETE FROM invoice_line;\r")
        console.process.screen { $0.lineBeforeCursor.hasSuffix("[y/N] ") }
        #expect(console.run("n") == ["not executed"])
        #expect(console.end() == 0)

        // The next day, the history is available.
        let next = try ConsoleProcess(["music.sqlite"], prompt: "music.sqlite> ", in: folder, columns: 100)
        _ = next.type("\u{1B}[A", until: "music.sqlite> DELETE FROM invoice_line;")
        _ = next.type("\u{3}", until: next.prompt)
        #expect(next.end() == 0)
    }
}
