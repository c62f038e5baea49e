import GRDB
import Perilune
import PeriluneDependencies
import PeriluneTestSupport
import PeriluneTestTools
import Testing

/// Observers of the program, and commits of scripts in another process.
@Suite struct ForeignCommitTests {
    @Test(
        .patience, .defaultDatabase(.pool("x.sqlite", migrations: library, usesFilesInTests: true)),
        arguments: ScriptPlace.allCases)
    func `the program's observers are notified of commits by isolated scripts`(_ place: ScriptPlace) async throws {
        let database = try await DependencyContainer.defaultDatabase
        let host = try await ScriptHost(place.configuration())
        let counts = ValueObservation.tracking { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM author") ?? 0 }
            .removeDuplicates().values(in: database)
        var seen: [Int] = []
        for try await count in counts {
            seen.append(count)
            if count == 2 { break }
            if count == 0 {
                try await host.run(
                    source: """
                        pcall(db.write, db, function(db)
                          db:execute("INSERT INTO author (name) VALUES ('nobody')")
                          error("rolled back")
                        end)
                        db:write(function(db)
                          db:execute("INSERT INTO author (name) VALUES ('Verne')")
                          db:execute("INSERT INTO author (name) VALUES ('Melville')")
                        end)
                        """)
            }
        }
        #expect(seen == [0, 2])
    }
}
