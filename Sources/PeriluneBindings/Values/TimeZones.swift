internal import Foundation
internal import PeriluneLua
internal import PeriluneRecords

/// The time zones that scripts can name: names of the IANA database, `UTC`, and `local`, the zone of the machine.
enum TimeZones {
    private static let known = Set(TimeZone.knownTimeZoneIdentifiers)

    /// Returns a function from Unix seconds to the offset of a zone from UTC in seconds.
    ///
    /// - Throws: ``BindingError`` that suggests the nearest name.
    static func offset(of name: String) throws -> (Int64) -> Int {
        if name == "local" { return localOffset }
        guard name == "UTC" || known.contains(name), let zone = TimeZone(identifier: name) else {
            throw BindingError.unknown("time zone", name, among: ["UTC", "local"] + TimeZone.knownTimeZoneIdentifiers)
        }
        return { zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double($0))) }
    }

    /// Follows the C library, as `os.date` does.
    private static func localOffset(at moment: Int64) -> Int {
        var seconds = time_t(moment)
        var local = tm()
        return localtime_r(&seconds, &local) == nil ? 0 : local.tm_gmtoff
    }
}

extension DateTime {
    /// Returns the instant whose parts in UTC are the parts of this instant in a zone.
    ///
    /// - Parameter offset: The offset of the zone at Unix seconds.
    /// - Throws: ``DateError`` with code `outOfRange`.
    func shifted(by offset: (Int64) -> Int) throws -> DateTime {
        try adding(seconds: offset(wholeUnixSeconds))
    }

    /// Returns the first instant of a unit in a zone.
    ///
    /// If the clocks skip the beginning of the unit, this is the instant at which they do.
    func start(of unit: Unit, in offset: (Int64) -> Int) throws -> DateTime {
        let start = try shifted(by: offset).start(of: unit).wholeUnixSeconds
        let day: Int64 = 86_400
        let offsets = [offset(start - day), offset(start + day), offset(wholeUnixSeconds)].map(Int64.init)
        let instants = offsets.filter { Int64(offset(start - $0)) == $0 }.map { start - $0 }.filter { $0 <= wholeUnixSeconds }
        if let first = instants.min() { return try DateTime(unixSeconds: first) }
        // The clocks skip it: search the instant between the latest and the earliest offset.
        var (before, after) = (start - (offsets.max() ?? 0) - 1, start - (offsets.min() ?? 0))
        let former = offset(before)
        while after - before > 1 {
            let middle = (before + after) / 2
            if offset(middle) == former { before = middle } else { after = middle }
        }
        return try DateTime(unixSeconds: min(after, wholeUnixSeconds))
    }
}
