import PeriluneTestTools
import Testing

/// Schedules across changes of daylight saving time. Each test runs in a separate process, which has a time zone, and simulates a
/// year from January 1, 2000.
@Suite(.patience, .startsPrograms) struct ScheduleTests {
    private static func times(of schedules: String..., in zone: String) throws -> [String] {
        let code = """
            local finish = os.time() + 366 * 86400
            for _, text in ipairs{ ... } do
              perilune.schedule(text, function(due)
                if math.floor(due.unix) < finish then print(text .. " | " .. os.date("%m-%d %H:%M %z", math.floor(due.unix))) end
              end)
            end
            perilune.sleep("366d")
            os.exit(0)
            """
        let folder = try TestFolder(["year.lua": code])
        let process = try CommandProcess(
            TestFolder.binary, ["run", "--context", "test", "year.lua"] + schedules, in: folder, environment: ["TZ": zone])
        let result = try process.wait()
        #expect(result.errors == "")
        return result.output.split(separator: "\n").map(String.init)
    }

    @Test(arguments: [
        // Forward from 02:00 to 03:00 on March 26, back from 03:00 to 02:00 on October 29.
        (
            "Europe/Berlin", "03-26", ["15 2 * * * | 03-26 03:00 +0200", "30 2 * * * | 03-26 03:00 +0200"],
            "10-29", ["15 2 * * * | 10-29 02:15 +0200", "30 2 * * * | 10-29 02:30 +0200"]
        ),
        // Forward from 02:00 to 03:00 on April 2, back from 02:00 to 01:00 on October 29.
        (
            "America/New_York", "04-02", ["15 2 * * * | 04-02 03:00 -0400", "30 2 * * * | 04-02 03:00 -0400"],
            "10-29", ["15 2 * * * | 10-29 02:15 -0500", "30 2 * * * | 10-29 02:30 -0500"]
        ),
        // Back by half an hour from 02:00 to 01:30 on March 26, forward from 02:00 to 02:30 on August 27.
        (
            "Australia/Lord_Howe", "08-27", ["15 2 * * * | 08-27 02:30 +1100", "30 2 * * * | 08-27 02:30 +1100"],
            "03-26", ["15 2 * * * | 03-26 02:15 +1030", "30 2 * * * | 03-26 02:30 +1030"]
        ),
    ])
    func `a daily schedule runs exactly once on every day`(
        zone: String, forward: String, timesForward: [String], back: String, timesBack: [String]
    ) throws {
        let lines = try Self.times(of: "15 2 * * *", "30 2 * * *", "45 1 * * *", "30 0 * * *", "45 23 * * *", in: zone)
        #expect(lines.count == 366 * 5)
        func times(on day: String) -> [String] { lines.filter { $0.contains(" 2 * * * | \(day) ") } }
        #expect(times(on: forward) == timesForward)
        #expect(times(on: back) == timesBack)
    }

    @Test(arguments: [
        ("Europe/Berlin", ["45 1 * * * | 10-29 01:45 +0200"]),
        ("America/New_York", ["45 1 * * * | 10-29 01:45 -0400"]),
        ("Australia/Lord_Howe", ["45 1 * * * | 03-26 01:45 +1100"]),
    ])
    func `a schedule uses the first occurrence of a time that occurs twice`(zone: String, times: [String]) throws {
        let day = times[0].dropFirst(13).prefix(5)
        #expect(try Self.times(of: "45 1 * * *", in: zone).filter { $0.contains("| \(day) ") } == times)
    }

    @Test func `schedules follow clocks that change at midnight`() throws {
        // Back from midnight to 23:00 of February 26, forward from midnight to 01:00 on October 8.
        let lines = try Self.times(of: "30 0 * * *", "45 23 * * *", in: "America/Sao_Paulo")
        #expect(lines.count == 366 * 2)
        #expect(
            lines.filter { $0.contains("| 02-26 ") || $0.contains("| 10-08 ") } == [
                "30 0 * * * | 02-26 00:30 -0200", "45 23 * * * | 02-26 23:45 -0200",
                "30 0 * * * | 10-08 01:00 -0200", "45 23 * * * | 10-08 23:45 -0200",
            ])
    }

    @Test func `an hourly schedule runs in both of two repeated hours and skips the missing hour`() throws {
        let lines = try Self.times(of: "0 * * * *", in: "Europe/Berlin")
        // The first hour is missing because the program starts in it.
        #expect(lines.count == 366 * 24 - 1)
        #expect(
            lines.filter { $0.contains("10-29 02:00") } == ["0 * * * * | 10-29 02:00 +0200", "0 * * * * | 10-29 02:00 +0100"])
        #expect(!lines.contains { $0.contains("03-26 02:") })
    }

    @Test func `schedules find leap days, the last days of long months, and weekdays`() throws {
        #expect(try Self.times(of: "0 12 29 feb *", in: "Europe/Berlin") == ["0 12 29 feb * | 02-29 12:00 +0100"])
        let lasts = try Self.times(of: "0 12 31 * *", in: "America/New_York").map { $0.dropFirst(14).prefix(5) }
        #expect(lasts == ["01-31", "03-31", "05-31", "07-31", "08-31", "10-31", "12-31"])
        let sundays = try Self.times(of: "30 2 * mar,apr sun", in: "America/New_York").map { $0.dropFirst(21) }
        #expect(
            sundays == [
                "03-05 02:30 -0500", "03-12 02:30 -0500", "03-19 02:30 -0500", "03-26 02:30 -0500", "04-02 03:00 -0400",
                "04-09 02:30 -0400", "04-16 02:30 -0400", "04-23 02:30 -0400", "04-30 02:30 -0400",
            ])
    }
}
