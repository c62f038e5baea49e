internal import CPeriluneRows
internal import PeriluneLua
internal import PeriluneRecords

/// The bindings of `perilune.date` and `perilune.date_components`, which make the Swift date codec available to scripts.
final class DateBinding {
    let dates: LuaUserdataType<DateTime>
    let components: LuaUserdataType<DateParts>

    /// Creates the two userdata types.
    init(in state: LuaState) throws {
        dates = try state.makeInlineUserdataType("date", of: DateTime.self)
        components = try state.makeUserdataType("date components", of: DateParts.self)
        // The receiver's name in error messages: `date_components:format`.
        try components.metatable.rawSet("__receiver", "date_components")
        try defineDateProperties()
        try defineDateMethods()
        try defineDateOperators()
        try defineComponents()
        for (names, advice) in Self.otherMembers {
            for name in names.split(separator: " ") { dates.advice[String(name)] = advice }
        }
        dates.settingAdvice =
            "dates do not change; use date:add{ days = 1 }, or perilune.date{ year = ..., month = ..., day = ... }"
        // The row path uses the metatable to decode dates in common formats without calling Swift.
        try state.withUnsafeStack([.table(dates.metatable)]) { L, _ in pdb_set_date_metatable(L) }
    }

    private static let wholeYears = "(day:format(\"%Y%m%d\") - born:format(\"%Y%m%d\")) // 10000"

    /// Members that dates have in other libraries, with the replacements that error messages suggest.
    private static let otherMembers: [(String, String)] = [
        (
            "plus adding add_days add_months add_years add_hours add_seconds advance shift in offset dateadd",
            "use date:add{ days = 1 }"
        ),
        (
            "sub",
            "use date:format(\"%Y\") for a part of its text, date:add{ days = -1 } for an earlier date, first - second for the seconds between"
        ),
        (
            "match gmatch gsub find lower upper len byte rep",
            "a date is not a text; use date:format(\"%Y-%m-%d\"), or tostring(date)"
        ),
        ("minus subtract ago before_by", "use date:add{ days = -1 }, or first - second for the seconds between two dates"),
        (
            "diff difference since until_ timedelta",
            "use date:seconds_since(other), or first - second, in seconds; for whole years, \(wholeYears)"
        ),
        (
            "seconds_until days_until days_since days_between",
            "use date:seconds_since(other), or first - second, in seconds; // 86400 for whole days"
        ),
        ("years_until years_since years_between age age_in_years full_years whole_years", "use \(wholeYears) for whole years"),
        (
            "is_before is_after isBefore isAfter before after compare equals is_same eq lt gt",
            "compare dates with <, <=, == and >"
        ),
        ("strftime to_string tostring text to_s toString pretty", "use date:format(\"%Y-%m-%d %H:%M\"), or tostring(date)"),
        ("iso iso_format isoformat to_iso toISOString iso_string", "use date:iso8601()"),
        (
            "weekday_name day_name month_name month_abbr day_abbr name",
            "dates have no names in words; use a list: ({ \"Sunday\", ... })[date.weekday + 1]"
        ),
        ("is_same_day same_day is_today isSame", "compare the days: first:format(\"YMD\") == second:format(\"YMD\")"),
        (
            "last_day_of_month days_in_month month_days",
            "use date:start_of(\"month\"):add{ months = 1, days = -1 }.day"
        ),
        ("start_of_month start_of_year start_of_day start_of_week", "use date:start_of(\"month\"); likewise day, week and year"),
        ("week week_number iso_week isocalendar", "use date:format(\"%W\"), the number of the week as text"),
        ("timestamp unix_time epoch to_unix time getTime seconds_since_epoch", "use date.unix"),
        ("unix_seconds", "use math.floor(date.unix)"),
        (
            "end_of end_of_day end_of_month end_of_year",
            "use date:start_of(\"month\"):add{ months = 1 } for the end, which is exclusive"
        ),
        (
            "beginning_of_day beginning_of_month beginning_of_year beginning_of_week at_midnight midnight truncate trunc date floor",
            "use date:start_of(\"day\")"
        ),
        (
            "utc to_utc local_time to_local localtime to_timezone in_time_zone in_zone timezone tz astimezone zone",
            "dates are UTC; use date:format(pattern, \"local\") or date:components(format, \"Europe/Berlin\"), and "
                + "perilune.date_components(text):date(\"Europe/Berlin\") for the date of a local time"
        ),
        ("minutes", "use date.minute"), ("hours", "use date.hour"), ("seconds", "use date.second"), ("days", "use date.day"),
        ("months", "use date.month"),
        ("years", "use date.year"), ("week_day day_of_week wday dow", "use date.weekday"), ("yday", "use date.day_of_year"),
        ("set replace with change", "use perilune.date{ year = ..., month = ..., day = ... }"),
    ]

    // MARK: - Reading

    /// Reads a date from a date value, or from any value that a database may contain: text in SQLite's formats, a Julian day or
    /// Unix seconds.
    func readStoredDate(_ value: LuaValue) throws -> DateTime {
        switch value {
        case .integer(let number): try DateTime(number: number)
        case .number(let number): try DateTime(number: number)
        default: try readDate(value)
        }
    }

    /// Reads a date from a script value: text in SQLite's formats, Unix seconds, or a date.
    func readDate(_ value: LuaValue) throws -> DateTime {
        switch value {
        case .string(let text): return try DateTime(parsing: text.bytes)
        case .integer(let number): return try DateTime(unixSeconds: number)
        case .number(let number): return try DateTime(unixSeconds: number)
        case .userdata where dates.matches(value): return try dates.value(of: value)
        case .userdata where components.matches(value): return try DateTime(components.value(of: value))
        case .nil: throw BindingError("conversion", "expected a date, got nil; use perilune.now() for the current time")
        default: throw BindingError("conversion", "expected a date, got \(value.shortDescription)")
        }
    }

    /// Reads a date like `readDate`. If the text describes a time in words, such as "today", the error names the call to use.
    private func readGivenDate(_ value: LuaValue) throws -> DateTime {
        do {
            return try readDate(value)
        } catch let error as DateError {
            guard case .string(let text) = value, let use = Self.call(for: text.description) else { throw error }
            var error = error
            error.message += "; use \(use)"
            throw error
        }
    }

    /// Returns the call that replaces a time in words; `nil` for other text.
    private static func call(for words: String) -> String? {
        switch words.lowercased() {
        case "now", "current_timestamp": return "perilune.now()"
        case "today", "current_date": return "perilune.now():start_of(\"day\")"
        case "tomorrow": return "perilune.now():start_of(\"day\"):add{ days = 1 }"
        case "yesterday": return "perilune.now():start_of(\"day\"):add{ days = -1 }"
        case let span where span.wholeMatch(of: /[+-]?\d+ *[a-z]+( ago)?/) != nil:
            return "perilune.now():add{ days = 1 }, likewise minutes, hours, months and years"
        default: return nil
        }
    }

    /// Reads date components from text, a date or components.
    func readComponents(_ value: LuaValue) throws -> DateParts {
        switch value {
        case .string(let text): return try DateParts(parsing: text.bytes)
        case .userdata where dates.matches(value): return try DateParts(dates.value(of: value))
        case .userdata where components.matches(value): return try components.value(of: value)
        default: throw BindingError("conversion", "expected the text of a date or time, got \(value.shortDescription)")
        }
    }

    /// Returns the results of a conversion for the Lua library: the value, or nil and an error message.
    static func attempt(_ body: () throws -> LuaValue) -> [LuaValue] {
        do {
            return [try body()]
        } catch {
            return [.nil, .string(LuaString(message(of: error)))]
        }
    }

    private static func message(of error: any Error) -> String {
        (error as? any LuaErrorDescribing)?.luaMessage ?? (error as? LuaError)?.message ?? String(describing: error)
    }

    func make(_ date: DateTime) throws(LuaError) -> LuaValue {
        .userdata(try dates.make(date))
    }

    func make(_ parts: DateParts) throws(LuaError) -> LuaValue {
        .userdata(try components.make(parts))
    }

    // MARK: - The table perilune.date

    func makeDateTable(in state: LuaState) throws -> LuaTable {
        let table = try state.makeTable()
        try table.set("name", "date")
        try table.set(
            "from_unix",
            .function(
                state.makeFunction("perilune.date.from_unix") { [self] arguments in
                    try arguments.refuseSurplus(after: 1, of: "perilune.date.from_unix")
                    if case .integer(let seconds) = arguments[1] { return [try make(DateTime(unixSeconds: seconds))] }
                    return [try make(DateTime(unixSeconds: arguments.get(1, as: Double.self)))]
                }))
        try table.set(
            "from_julian_day",
            .function(
                state.makeFunction("perilune.date.from_julian_day") { [self] arguments in
                    try arguments.refuseSurplus(after: 1, of: "perilune.date.from_julian_day")
                    return [try make(DateTime(julianDay: arguments.get(1)))]
                }))
        try table.setFunction("from_database") { [self] arguments in
            Self.attempt { try make(readStoredDate(arguments[2])) }
        }
        try table.setFunction("is") { [self] arguments in [.boolean(dates.matches(arguments[1]))] }
        try setCall(of: table, named: "perilune.date", in: state) { [self] value in
            if case .table(let fields) = value { return try make(DateTime(readParts(fields))) }
            return try make(readGivenDate(value))
        }
        return table
    }

    func makeComponentsTable(in state: LuaState) throws -> LuaTable {
        let table = try state.makeTable()
        try table.set("name", "date_components")
        try table.setFunction("from_database") { [self] arguments in
            Self.attempt { try make(readComponents(arguments[2])) }
        }
        try table.setFunction("is") { [self] arguments in [.boolean(components.matches(arguments[1]))] }
        try setCall(of: table, named: "perilune.date_components", in: state) { [self] value in
            if case .table(let fields) = value { return try make(readParts(fields)) }
            return try make(readComponents(value))
        }
        return table
    }

    /// Makes a table callable. The Lua part of the library adds the other fields of its metatable.
    private func setCall(
        of table: LuaTable, named name: String, in state: LuaState, _ body: @escaping (LuaValue) throws -> LuaValue
    ) throws {
        let metatable = try state.makeTable()
        try metatable.setFunction("__call") { arguments in
            let surplus = arguments[3]
            if name == "perilune.date", case .string(let zone) = surplus, (try? TimeZones.offset(of: zone.description)) != nil {
                throw BindingError(
                    "argument",
                    "perilune.date: takes one argument, got a time zone as argument 2; use "
                        + "perilune.date_components(\"2026-03-31 09:30\"):date(\"\(zone)\")")
            }
            guard surplus.isNil else {
                throw BindingError(
                    "argument",
                    "\(name): takes one argument, got \(surplus.shortDescription) as argument 2; use "
                        + "\(name){ year = 2026, month = 3, day = 1 }, or text such as \"2026-03-01\"")
            }
            return [try body(arguments[2])]
        }
        try table.setMetatable(metatable)
    }

    /// The names that scripts may give a component with a time zone, which does not exist.
    private static let namesOfZones: Set = ["zone", "time_zone", "timezone", "tz", "tzinfo", "zone_name"]

    /// Reads the fields `{ year = 2026, month = 3, day = 1, hour = ..., format = "YMD" }`.
    private func readParts(_ fields: LuaTable) throws -> DateParts {
        let names = ["year", "month", "day", "hour", "minute", "second", "microsecond", "zone_in_minutes"]
        var parts: [String: Int] = [:]
        var format: DateFormat?
        for (key, value) in try fields.pairs() {
            if case .integer = key {
                throw BindingError("argument", "expected fields with names, got a list; use { year = 2026, month = 3, day = 1 }")
            }
            let name = try String.fromLua(key)
            if name == "format" {
                format = try readFormat(value)
            } else if name == "millisecond" {
                parts["microsecond", default: 0] += try partNumber(value, name).multiplied(by: 1000)
            } else if names.contains(name) {
                parts[name, default: 0] += try partNumber(value, name)
            } else if Self.namesOfZones.contains(name) {
                let zone = if case .string(let zone) = value { zone.description } else { "Europe/Berlin" }
                throw BindingError(
                    "argument",
                    "unknown date component `\(name)`; use perilune.date_components{ year = 2026, month = 3, day = 31, hour = 9 }"
                        + ":date(\"\(zone)\"), or zone_in_minutes for an offset")
            } else {
                let known = (names + ["millisecond", "format"]).joined(separator: ", ")
                throw BindingError("argument", "unknown date component `\(name)`; available: \(known)")
            }
        }
        return try DateParts(
            year: parts["year"], month: parts["month"], day: parts["day"], hour: parts["hour"],
            minute: parts["minute"], second: parts["second"], microsecond: parts["microsecond"],
            zoneInMinutes: parts["zone_in_minutes"], format: format)
    }

    private func partNumber(_ value: LuaValue, _ name: String) throws -> Int {
        do {
            let number = try Int.fromLua(value)
            // The bound is far outside every valid range, but small enough to avoid overflows.
            guard (-1_000_000_000_000...1_000_000_000_000).contains(number) else {
                throw BindingError("argument", "\(name) is out of range: \(number)")
            }
            return number
        } catch let error as LuaError {
            throw BindingError("argument", "\(name): \(error.message)")
        }
    }

    /// Reads the name of a format.
    ///
    /// - Parameter orPattern: Whether the caller also accepts patterns; if so, the error mentions them.
    private func readFormat(_ value: LuaValue, orPattern: Bool = false) throws -> DateFormat {
        if case .string(let name) = value, let format = DateFormat(rawValue: name.description) { return format }
        let names = DateFormat.allCases.map(\.rawValue).joined(separator: ", ")
        let pattern = orPattern ? " or a pattern such as \"%Y-%m-%d\"" : ""
        throw BindingError("argument", "expected a date format (\(names))\(pattern), got \(value.shortDescription)")
    }
}

// MARK: - Dates

extension DateBinding {
    private func defineDateProperties() throws {
        let integers: [(String, KeyPath<DateTime, Int>)] = [
            ("year", \.year), ("month", \.month), ("day", \.day), ("hour", \.hour), ("minute", \.minute),
            ("second", \.second), ("millisecond", \.millisecond), ("microsecond", \.microsecond),
            ("weekday", \.weekday), ("day_of_year", \.dayOfYear),
        ]
        for (name, path) in integers {
            try dates.property(name) { .integer(Int64($0[keyPath: path])) }
        }
        // Whole seconds are returned as an integer, like the result of `os.time`.
        try dates.property("unix") { date in
            date.microsecond == 0 ? .integer(date.wholeUnixSeconds) : .number(date.unixSeconds)
        }
        try dates.property("julian_day") { .number($0.julianDay) }
    }

    private func defineDateMethods() throws {
        try dates.method("format") { [self] date, arguments in
            try arguments.refuseSurplus(after: 2, of: "date:format")
            let local = try readZone(arguments, 2).map { try date.shifted(by: $0) }
            if case .string(let pattern) = arguments[1], pattern.bytes.contains(UInt8(ascii: "%")) {
                return [.string(LuaString(try date.bytes(pattern: pattern.bytes, local: local)))]
            }
            let format = arguments[1].isNil ? .ymdHMSS : try readFormat(arguments[1], orPattern: true)
            return [.string(LuaString((local ?? date).text(as: format)))]
        }
        try dates.method("iso8601") { date, arguments in
            try arguments.refuseSurplus(after: 0, of: "date:iso8601")
            return [.string(LuaString(date.text(as: .ymdHMSS, separator: .t, marksUTC: true)))]
        }
        try dates.method("add") { [self] date, arguments in
            guard case .table(let spans) = arguments[1] else {
                throw arguments.mismatch(1, expected: "a table, { days = 1 } for example")
            }
            try arguments.refuseSurplus(after: 1, of: "date:add")
            return [try make(add(spans, to: date))]
        }
        try dates.method("start_of") { [self] date, arguments in
            try arguments.refuseSurplus(after: 2, of: "date:start_of")
            guard case .string(let name) = arguments[1], let unit = DateTime.Unit(rawValue: name.description) else {
                let names = DateTime.Unit.allCases.map(\.rawValue).joined(separator: ", ")
                throw arguments.mismatch(1, expected: "one of \(names)")
            }
            guard let offset = try readZone(arguments, 2) else { return [try make(date.start(of: unit))] }
            return [try make(date.start(of: unit, in: offset))]
        }
        try dates.method("seconds_since") { [self] date, arguments in
            try arguments.refuseSurplus(after: 1, of: "date:seconds_since")
            return [.number(date.seconds(since: try readDate(arguments[1])))]
        }
        try dates.method("components") { [self] date, arguments in
            try arguments.refuseSurplus(after: 2, of: "date:components")
            let format = arguments[1].isNil ? .ymdHMSS : try readFormat(arguments[1])
            guard let offset = try readZone(arguments, 2) else { return [try make(DateParts(date, format: format))] }
            let zone = format.hasDate && format.hasTime ? offset(date.wholeUnixSeconds) / 60 : nil
            return [try make(DateParts(date.shifted(by: offset), format: format, zoneInMinutes: zone))]
        }
    }

    /// Reads an optional argument with the name of a time zone.
    private func readZone(_ arguments: LuaMethodArguments, _ position: Int) throws -> ((Int64) -> Int)? {
        arguments[position].isNil ? nil : try TimeZones.offset(of: arguments.get(position))
    }

    private func add(_ spans: LuaTable, to date: DateTime) throws -> DateTime {
        let names = ["years", "months", "days", "hours", "minutes", "seconds", "milliseconds", "microseconds"]
        var parts: [String: Int] = [:]
        var fraction = 0.0
        var overflow = DateTime.MonthOverflow.clamp
        for (key, value) in try spans.pairs() {
            let name = try String.fromLua(key)
            if name == "overflow" {
                overflow = try readOverflow(value)
                continue
            }
            guard names.contains(name) else {
                throw BindingError("argument", "unknown span `\(name)`; available: \(names.joined(separator: ", "))")
            }
            if name == "seconds", case .number(let seconds) = value {
                fraction = seconds
            } else {
                parts[name] = try partNumber(value, name)
            }
        }
        let microseconds = try (parts["milliseconds"] ?? 0).multiplied(by: 1000) + (parts["microseconds"] ?? 0)
        let moved = try date.adding(
            years: parts["years"] ?? 0, months: parts["months"] ?? 0, days: parts["days"] ?? 0,
            hours: parts["hours"] ?? 0, minutes: parts["minutes"] ?? 0, seconds: parts["seconds"] ?? 0,
            microseconds: microseconds, overflow: overflow)
        return fraction == 0 ? moved : try moved.adding(seconds: fraction)
    }

    private func readOverflow(_ value: LuaValue) throws -> DateTime.MonthOverflow {
        if case .string(let name) = value, let overflow = DateTime.MonthOverflow(rawValue: name.description) { return overflow }
        throw BindingError("argument", "overflow: expected \"clamp\" or \"run on\", got \(value.shortDescription)")
    }

    private func defineDateOperators() throws {
        try dates.metamethod("__eq") { [self] arguments in
            [
                .boolean(
                    try dates.matches(arguments[1]) && dates.matches(arguments[2])
                        && dates.value(of: arguments[1]) == dates.value(of: arguments[2]))
            ]
        }
        try dates.metamethod("__lt") { [self] arguments in
            [.boolean(try readDate(arguments[1]) < readDate(arguments[2]))]
        }
        try dates.metamethod("__le") { [self] arguments in
            [.boolean(try readDate(arguments[1]) <= readDate(arguments[2]))]
        }
        try dates.metamethod("__sub") { [self] arguments in
            guard dates.matches(arguments[1]) else {
                throw BindingError(
                    "argument",
                    "`-`: expected a date before the operator, got \(arguments[1].shortDescription); use first - second with two "
                        + "dates for the seconds between them")
            }
            let date = try dates.value(of: arguments[1])
            if dates.matches(arguments[2]) { return [.number(date.seconds(since: try dates.value(of: arguments[2])))] }
            return [try make(date.adding(seconds: -seconds(arguments[2], of: "-", example: "{ days = -1 }")))]
        }
        try dates.metamethod("__add") { [self] arguments in
            let isFirst = dates.matches(arguments[1])
            let date = try dates.value(of: arguments[isFirst ? 1 : 2])
            return [try make(date.adding(seconds: seconds(arguments[isFirst ? 2 : 1], of: "+", example: "{ days = 1 }")))]
        }
        try dates.metamethod("__concat") { [self] arguments in
            [.string(LuaString(try operand(arguments[1]) + operand(arguments[2])))]
        }
        try dates.metamethod("__tostring") { [self] arguments in
            [.string(LuaString(try dates.value(of: arguments[1]).text()))]
        }
        try dates.metamethod("__to_database") { [self] arguments in
            [.string(LuaString(try dates.value(of: arguments[1]).text()))]
        }
    }

    /// Returns the seconds that an operator adds to a date or subtracts from it.
    private func seconds(_ value: LuaValue, of sign: String, example: String) throws -> Double {
        switch value {
        case .integer(let seconds): return Double(seconds)
        case .number(let seconds): return seconds
        default:
            throw BindingError(
                "argument",
                "`\(sign)`: expected a number of seconds after the date, got \(value.shortDescription); use date:add\(example), "
                    + "likewise minutes, hours, months and years")
        }
    }

    /// Returns the text of an operand of `..` as bytes.
    private func operand(_ value: LuaValue) throws -> [UInt8] {
        switch value {
        case .string(let text): return text.bytes
        case .integer(let number): return Array(String(number).utf8)
        case .userdata where dates.matches(value): return Array(try dates.value(of: value).text().utf8)
        default: throw BindingError("argument", "attempt to concatenate a date and \(value.shortDescription)")
        }
    }

    // MARK: - Components

    private func defineComponents() throws {
        let integers: [(String, KeyPath<DateParts, Int?>)] = [
            ("year", \.year), ("month", \.month), ("day", \.day), ("hour", \.hour), ("minute", \.minute),
            ("second", \.second), ("microsecond", \.microsecond), ("zone_in_minutes", \.zoneInMinutes),
        ]
        for (name, path) in integers {
            try components.property(name) { parts in parts[keyPath: path].map { .integer(Int64($0)) } ?? .nil }
        }
        try components.property("format_name") { .string(LuaString($0.format.rawValue)) }
        try components.method("format") { [self] parts, arguments in
            try arguments.refuseSurplus(after: 1, of: "date_components:format")
            let format = arguments[1].isNil ? nil : try readFormat(arguments[1])
            return [.string(LuaString(try parts.text(as: format)))]
        }
        try components.method("date") { [self] parts, arguments in
            try arguments.refuseSurplus(after: 1, of: "date_components:date")
            guard let offset = try readZone(arguments, 1) else { return [try make(DateTime(parts))] }
            guard parts.zoneInMinutes == nil else {
                throw BindingError(
                    "argument",
                    "date_components:date: the parts have an offset from UTC (zone_in_minutes); omit it, or the time zone")
            }
            return [try make(DateTime(parts).whenShown(in: offset))]
        }
        try components.metamethod("__eq") { [self] arguments in
            [
                .boolean(
                    try components.matches(arguments[1]) && components.matches(arguments[2])
                        && components.value(of: arguments[1]) == components.value(of: arguments[2]))
            ]
        }
        for event in ["__tostring", "__to_database"] {
            try components.metamethod(event) { [self] arguments in
                [.string(LuaString(try components.value(of: arguments[1]).text()))]
            }
        }
    }
}

extension Int {
    /// Returns the product. Throws if it overflows, because the numbers come from scripts.
    fileprivate func multiplied(by factor: Int) throws -> Int {
        let (product, overflow) = multipliedReportingOverflow(by: factor)
        guard !overflow else { throw BindingError("argument", "\(self) is out of range") }
        return product
    }
}
