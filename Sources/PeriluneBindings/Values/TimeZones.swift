internal import Foundation
internal import PeriluneLua
internal import PeriluneRecords

/// The time zones that scripts can name: zones of the IANA database, `UTC`, and `local`, the machine's time zone.
enum TimeZones {
    private static let known = Set(TimeZone.knownTimeZoneIdentifiers)

    /// Returns a function that converts Unix seconds to the zone's offset from UTC in seconds.
    ///
    /// - Throws: ``BindingError`` that suggests the nearest name.
    static func offset(of name: String) throws -> (Int64) -> Int {
        if name == "local" { return localOffset }
        guard name == "UTC" || known.contains(name), let zone = TimeZone(identifier: name) else {
            throw BindingError.unknown("time zone", name, among: ["UTC", "local"] + TimeZone.knownTimeZoneIdentifiers)
        }
        return { zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double($0))) }
    }

    /// Returns the machine's offset at a time. Uses the C library, like `os.date`.
    private static func localOffset(at moment: Int64) -> Int {
        var seconds = time_t(moment)
        var local = tm()
        return localtime_r(&seconds, &local) == nil ? 0 : local.tm_gmtoff
    }
}

extension DateTime {
    /// Returns the instant whose date and time in UTC equal the date and time of this instant in a zone.
    ///
    /// - Parameter offset: Returns the zone's offset at a time in Unix seconds.
    /// - Throws: ``DateError`` with code `outOfRange`.
    func shifted(by offset: (Int64) -> Int) throws -> DateTime {
        try adding(seconds: offset(wholeUnixSeconds))
    }

    /// Returns the instant at which clocks in a zone show the date and time that this instant has in UTC.
    ///
    /// If the clocks show it twice, returns the first instant. If a clock change skips it, returns the instant at which clocks that had not
    /// been changed would show it.
    ///
    /// - Parameter offset: Returns the zone's offset at a time in Unix seconds.
    /// - Throws: ``DateError`` with code `outOfRange`.
    func whenShown(in offset: (Int64) -> Int) throws -> DateTime {
        let time = wholeUnixSeconds, day: Int64 = 86_400
        let former = offset(time - day)
        let offsets = [former, offset(time), offset(time + day)].filter { offset(time - Int64($0)) == $0 }
        return try adding(seconds: -(offsets.max() ?? former))
    }

    /// Returns the first instant of a unit in a zone.
    ///
    /// If a clock change skips the beginning of the unit, returns the instant of the change.
    func start(of unit: Unit, in offset: (Int64) -> Int) throws -> DateTime {
        let start = try shifted(by: offset).start(of: unit).wholeUnixSeconds
        let day: Int64 = 86_400
        let offsets = [offset(start - day), offset(start + day), offset(wholeUnixSeconds)].map(Int64.init)
        let instants = offsets.filter { Int64(offset(start - $0)) == $0 }.map { start - $0 }.filter { $0 <= wholeUnixSeconds }
        if let first = instants.min() { return try DateTime(unixSeconds: first) }
        // A clock change skips the beginning. Search for the instant of the change between the candidates for the largest and the
        // smallest offset.
        var (before, after) = (start - (offsets.max() ?? 0) - 1, start - (offsets.min() ?? 0))
        let former = offset(before)
        while after - before > 1 {
            let middle = (before + after) / 2
            if offset(middle) == former { before = middle } else { after = middle }
        }
        return try DateTime(unixSeconds: min(after, wholeUnixSeconds))
    }
}
