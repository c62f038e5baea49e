import Testing
import PeriluneLuaFileTools

@Suite struct DateTests {
    @Test func `a date is written as UTC text with milliseconds`() async throws {
        try await script(
            """
            local date = perilune.date{ year = 2026, month = 3, day = 1, hour = 13, minute = 5, second = 7, millisecond = 89 }
            equal(db:fetch_value("SELECT ?", date), "2026-03-01 13:05:07.089")
            equal(db:fetch_value("SELECT typeof(?)", date), "text")
            """)
    }

    @Test func `written dates sort together with CURRENT_TIMESTAMP`() async throws {
        try await script(
            """
            db:execute("CREATE TABLE event (name TEXT, at DATETIME DEFAULT CURRENT_TIMESTAMP)")
            db:execute("INSERT INTO event (name) VALUES ('now')")
            db:execute("INSERT INTO event VALUES ('before', ?)", perilune.now() - 3600)
            db:execute("INSERT INTO event VALUES ('after', ?)", perilune.now() + 3600)
            equal(db:fetch_values("SELECT name FROM event ORDER BY at"), { "before", "now", "after" })
            """)
    }

    @Test(arguments: [
        ("2026-03-01", "2026-03-01 00:00:00.000"),
        ("2026-03-01 13:05", "2026-03-01 13:05:00.000"),
        ("2026-03-01 13:05:07", "2026-03-01 13:05:07.000"),
        ("2026-03-01 13:05:07.089", "2026-03-01 13:05:07.089"),
        ("2026-03-01T13:05", "2026-03-01 13:05:00.000"),
        ("2026-03-01T13:05:07", "2026-03-01 13:05:07.000"),
        ("2026-03-01T13:05:07.089", "2026-03-01 13:05:07.089"),
        ("2026-03-01 13:05:07+02:00", "2026-03-01 11:05:07.000"),
        ("2026-03-01T13:05:07Z", "2026-03-01 13:05:07.000"),
    ])
    func `a date is read from each SQLite date format`(text: String, written: String) async throws {
        try await script(
            """
            local row = db:fetch_one("SELECT ? AS at", "\(text)")
            equal(tostring(row:date("at")), "\(written)")
            equal(tostring(db:fetch_value_as("date", "SELECT ?", "\(text)")), "\(written)")
            """)
    }

    @Test func `a date is written in shorter formats on request`() async throws {
        try await script(
            """
            local date = perilune.date("2026-03-01 13:05:07.089")
            equal(date:format("YMD"), "2026-03-01")
            equal(date:format("YMD_HM"), "2026-03-01 13:05")
            equal(date:format("YMD_HMS"), "2026-03-01 13:05:07")
            equal(date:format("%d.%m.%Y %H Uhr"), "01.03.2026 13 Uhr")
            equal(date:iso8601(), "2026-03-01T13:05:07.089Z")
            """)
    }

    @Test(arguments: [
        ("HM", "13:05"), ("HMS", "13:05:07"), ("HMSS", "13:05:07.089"),
        ("YMD", "2026-03-01"), ("YMD_HM", "2026-03-01 13:05"),
    ])
    func `date components remember the format in which they were read`(
        format: String, text: String
    ) async throws {
        try await script(
            """
            local row = db:fetch_one("SELECT ? AS at", "\(text)")
            local components = row:date_components("at")
            equal(components.format_name, "\(format)")
            equal(db:fetch_value("SELECT ?", components), "\(text)")
            """)
    }

    @Test func `date components can be created from parts and written in any format`() async throws {
        try await script(
            """
            local noon = perilune.date_components{ hour = 12, minute = 0 }
            equal(noon:format("HM"), "12:00")
            equal(noon:format("HMS"), "12:00:00")
            equal(noon.hour, 12)
            equal(noon.year, nil)
            """)
    }

    @Test func `a time without a date is not a date`() async throws {
        try await script(
            """
            local row = db:fetch_one("SELECT '12:30' AS at")
            local err = fails("conversion", row.date, row, "at")
            matches(err, "column `at`")
            """)
    }

    @Test func `a Julian day number is read as a date, and other numbers follow SQLite's rule`() async throws {
        try await script(
            """
            local row = db:fetch_one("SELECT 2461101.0 AS julian, 1772366707 AS unix, 'x' AS text")
            equal(tostring(perilune.date.from_julian_day(row.julian)), "2026-03-01 12:00:00.000")
            equal(tostring(row:date("julian")), "2026-03-01 12:00:00.000")
            equal(tostring(row:date("unix")), "2026-03-01 12:05:07.000")
            equal(perilune.date.from_unix(0).year, 1970)
            equal(perilune.date.from_julian_day(2461101.0).month, 3)
            matches(fails("unknown_column", function() db:fetch_one("SELECT 1 AS x"):julian_date("x") end), "use row:date(name)")
            fails(nil, perilune.date.from_julian_day, 0/0)
            fails(nil, perilune.date.from_unix, 1e300)
            """)
    }

    @Test func `"now" is not a date`() async throws {
        try await script(#"matches(fails("date", perilune.date, "now"), "now")"#)
    }

    @Test func `date components can be fetched directly`() async throws {
        try await script(
            """
            local times = db:fetch_values_as("date_components", "SELECT '12:30' UNION ALL SELECT '13:00:01'")
            equal(times[1].format_name, "HM")
            equal(times[2].second, 1)
            """)
    }

    @Test(arguments: ["2015-13-45", "2015-02-30", "2015-01-01 24:00", "2015-01-01 23:60", "2015-1-1", "gibberish", ""])
    func `impossible dates are errors`(text: String) async throws {
        try await script(
            """
            fails("date", perilune.date, "\(text)")
            local row = db:fetch_one("SELECT ? AS at", "\(text)")
            fails("conversion", row.date, row, "at")
            """)
    }

    @Test func `a column declared DATETIME keeps SQLite's value`() async throws {
        try await script(
            """
            db:execute("CREATE TABLE event (at DATETIME)")
            db:execute("INSERT INTO event VALUES (?)", perilune.date("2026-03-01"))
            local row = db:fetch_one("SELECT at FROM event")
            equal(row.at, "2026-03-01 00:00:00.000")
            equal(row:date("at").day, 1)
            """)
    }

    @Test func `dates can be compared and shifted, and are distinguished from other values`() async throws {
        try await script(
            """
            local a, b = perilune.date("2026-01-31"), perilune.date("2026-02-01")
            equal(a < b, true)
            equal(a <= a, true)
            equal(a == perilune.date("2026-01-31"), true)
            equal(a == "2026-01-31", false)
            equal(b - a, 86400.0)
            equal(tostring(a + 0.5), "2026-01-31 00:00:00.500")
            equal(tostring(a:add{ months = 1 }), "2026-02-28 00:00:00.000")
            equal(tostring(a:add{ months = 1, days = 1 }), "2026-03-01 00:00:00.000")
            equal(tostring(a:add{ months = 1, overflow = "run on" }), "2026-03-03 00:00:00.000")
            equal(tostring(perilune.date("2024-02-29"):add{ years = 1 }), "2025-02-28 00:00:00.000")
            equal(tostring(a:add{ days = -1, hours = 1 }), "2026-01-30 01:00:00.000")
            equal(tostring(b:add{ seconds = 1 }:start_of("year")), "2026-01-01 00:00:00.000")
            equal(b:seconds_since(a), 86400.0)
            equal(b.weekday, 0)
            equal(tostring(b:start_of("week")), "2026-01-26 00:00:00.000")
            """)
    }

    @Test func `a number is a date in Unix seconds, but Julian days are read from columns`() async throws {
        try await script(
            """
            equal(tostring(perilune.date(0)), "1970-01-01 00:00:00.000")
            equal(tostring(perilune.date(2461101)), "1970-01-29 11:38:21.000")
            equal(tostring(perilune.date(1.5)), "1970-01-01 00:00:01.500")
            equal(perilune.date(-1).year, 1969)
            equal(perilune.date(86400):seconds_since(0), 86400.0)
            equal(perilune.date(10) < 11, true)
            equal(tostring(perilune.date:from_database(2461101)), "2026-03-01 12:00:00.000")
            """)
    }

    @Test func `dates are formatted, split and truncated in time zones`() async throws {
        try await script(
            """
            local date = perilune.date("2026-06-30 22:30")
            equal(date:format("%d.%m.%Y %H:%M", "Europe/Berlin"), "01.07.2026 00:30")
            equal(date:format("%s", "Europe/Berlin"), date:format("%s"))
            equal(date:format("YMD", "Europe/Berlin"), "2026-07-01")
            equal(date:format("HM", "UTC"), "22:30")
            local components = date:components("YMD_HMS", "America/New_York")
            equal(components.hour, 18)
            equal(components.zone_in_minutes, -240)
            equal(components:date(), date)
            equal(tostring(date:components("YMD", "Europe/Berlin")), "2026-07-01")
            equal(tostring(date:components("HM", "Asia/Tehran")), "02:00")
            equal(tostring(date:start_of("day", "Europe/Berlin")), "2026-06-30 22:00:00.000")
            equal(tostring(date:start_of("month", "Europe/Berlin")), "2026-06-30 22:00:00.000")
            equal(tostring(date:start_of("year", "Europe/Berlin")), "2025-12-31 23:00:00.000")
            equal(tostring(date:start_of("week", "Europe/Berlin")), "2026-06-28 22:00:00.000")
            equal(tostring(date:start_of("hour", "Asia/Tehran")), "2026-06-30 22:30:00.000")
            equal(date:format("%Y-%m-%d %H:%M:%S", "local"), os.date("%Y-%m-%d %H:%M:%S", math.floor(date.unix)))
            """)
    }

    @Test func `local times in a time zone are converted to dates`() async throws {
        try await script(
            """
            local function at(text, zone) return tostring(perilune.date_components(text):date(zone)) end
            equal(at("2026-01-15 09:30", "Europe/Berlin"), "2026-01-15 08:30:00.000")
            equal(at("2026-07-15 09:30:05.250", "Europe/Berlin"), "2026-07-15 07:30:05.250")
            equal(at("2026-07-15", "America/New_York"), "2026-07-15 04:00:00.000")
            equal(at("2026-07-15 09:30", "UTC"), "2026-07-15 09:30:00.000")
            equal(at("1960-06-01 12:00", "Asia/Tokyo"), "1960-06-01 03:00:00.000")
            -- Clocks skip 02:00 to 03:00 on March 29, and repeat it on October 25.
            equal(at("2026-03-29 01:59", "Europe/Berlin"), "2026-03-29 00:59:00.000")
            equal(at("2026-03-29 02:30", "Europe/Berlin"), "2026-03-29 01:30:00.000")
            equal(at("2026-03-29 03:00", "Europe/Berlin"), "2026-03-29 01:00:00.000")
            equal(at("2026-10-25 02:30", "Europe/Berlin"), "2026-10-25 00:30:00.000")
            equal(at("2026-10-25 03:00", "Europe/Berlin"), "2026-10-25 02:00:00.000")
            equal(at("2026-11-01 01:30", "America/New_York"), "2026-11-01 05:30:00.000")
            equal(at("2026-03-08 02:30", "America/New_York"), "2026-03-08 07:30:00.000")
            -- Each hour of a year, formatted in the zone, is its date again, except for the second of two equal times.
            local date, repeated = perilune.date("2026-01-01"), 0
            for _ = 1, 365 * 24 do
                local again = perilune.date_components(date:format("YMD_HM", "Europe/Berlin")):date("Europe/Berlin")
                if again ~= date then
                    repeated = repeated + 1
                    equal(date - again, 3600.0)
                end
                date = date + 3600
            end
            equal(repeated, 1)
            local seconds = math.floor(perilune.date_components("2026-07-15 09:30"):date("local").unix)
            equal(seconds, os.time{ year = 2026, month = 7, day = 15, hour = 9, min = 30 })
            """)
    }

    @Test func `time zones that a date or its parts cannot have are refused, and the error names the call`() async throws {
        try await script(
            """
            local parts = perilune.date_components("2026-03-01 09:30")
            fails("unknown_time_zone", parts.date, parts, "Europe/Berlim")
            fails("date", function() return perilune.date_components("09:30"):date("UTC") end)
            matches(
                fails("argument", function() return perilune.date_components("2026-03-01T09:30+01:00"):date("UTC") end),
                "zone_in_minutes")
            local call = ':date("Europe/Paris")'
            matches(fails("argument", perilune.date, { year = 2026, month = 3, day = 1, zone = "Europe/Paris" }), call)
            matches(fails("argument", perilune.date, "2026-03-01 09:30", "Europe/Paris"), call)
            matches(fails("unknown_member", function() return perilune.date("2026-03-01").to_utc end), "perilune.date_components(text):date(")
            """)
    }

    @Test func `the first instant of a day is found where clocks skip or repeat midnight`() async throws {
        try await script(
            """
            local function start(text, zone) return tostring(perilune.date(text):start_of("day", zone)) end
            equal(start("2018-11-04 15:00", "America/Sao_Paulo"), "2018-11-04 03:00:00.000")
            equal(start("2018-02-18 15:00", "America/Sao_Paulo"), "2018-02-18 03:00:00.000")
            equal(start("2018-02-18 02:30", "America/Sao_Paulo"), "2018-02-17 02:00:00.000")
            equal(start("2024-11-03 12:00", "America/Havana"), "2024-11-03 04:00:00.000")
            equal(start("2024-11-03 05:30", "America/Havana"), "2024-11-03 04:00:00.000")
            """)
    }

    @Test func `the Unix seconds of a date are an integer if they have no fraction`() async throws {
        try await script(
            """
            local whole, part = perilune.date("2026-03-01 00:00:01"), perilune.date("1969-12-31 23:59:58.500")
            equal({ whole.unix, math.type(whole.unix) }, { 1772323201, "integer" })
            equal({ part.unix, math.floor(part.unix) }, { -1.5, -2 })
            equal(os.date("!%S", perilune.date("2026-03-01 00:00:07").unix), "07")
            matches(fails("unknown_member", function() return whole.unix_seconds end), "use math.floor(date.unix)")
            matches(fails(nil, function() return perilune.date.now() end), "use perilune.now()")
            """)
    }

    @Test func `date functions refuse surplus arguments`() async throws {
        try await script(
            """
            local date = perilune.date("2026-03-01")
            matches(fails("argument", date.add, date, { days = 1 }, 2), "takes one argument, got the integer 2 as argument 2")
            matches(fails("argument", date.format, date, "YMD", "local", 3), "takes at most 2 arguments, got the integer 3")
            matches(fails("argument", date.iso8601, date, 1), "takes no arguments, got the integer 1")
            fails("argument", date.start_of, date, "day", "local", 3)
            fails("argument", date.seconds_since, date, date, 3)
            fails("argument", date.components, date, "YMD", "local", 3)
            matches(fails("argument", perilune.date.from_unix, 1, 2), "takes one argument")
            fails("argument", perilune.date.from_julian_day, 1, 2)
            local parts = perilune.date_components("12:30")
            fails("argument", parts.format, parts, "HM", 1)
            fails("argument", parts.date, parts, "UTC", 1)
            """)
    }

    @Test func `invalid date arguments are errors that list the options`() async throws {
        try await script(
            """
            local date = perilune.date("2026-01-31")
            matches(fails("argument", date.add, date, { dayz = 1 }), "days")
            matches(fails("argument", date.format, date, "YYYY"), "YMD_HM")
            matches(fails("argument", date.start_of, date, "decade"), "month")
            matches(fails("argument", date.add, date, { months = 1, overflow = "wrap" }), '"run on"')
            matches(fails("unknown_time_zone", date.format, date, "%H", "Europe/Berlim"), "Europe/Berlin")
            matches(fails("argument", date.add, date, { days = math.maxinteger }), "out of range")
            fails("date", date.add, date, { years = 9000 })
            matches(fails("unknown_member", function() return date.yaer end), "year")
            fails("readonly_member", function() date.year = 1 end)
            matches(fails("argument", perilune.date_components, { hour = 25 .. "" }), "hour")
            fails("date", perilune.date_components, { hour = 25 })
            matches(fails("argument", perilune.date_components, { hours = 1 }), "hour")
            fails("conversion", perilune.date, {} and true)
            fails(nil, function() return date < {} end)
            fails(nil, date.add, {}, { days = 1 })
            fails(nil, perilune.date, string.char(0x80, 0xAF):rep(10))
            """)
    }
}
