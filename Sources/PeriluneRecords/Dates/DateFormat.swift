/// The text formats of SQLite's date functions.
///
/// A `T` or a space may separate date and time in the same format. The raw value is the name of the format in scripts.
public enum DateFormat: String, Hashable, Sendable, CaseIterable {
    /// `YYYY-MM-DD`
    case ymd = "YMD"
    /// `YYYY-MM-DD HH:MM`
    case ymdHM = "YMD_HM"
    /// `YYYY-MM-DD HH:MM:SS`
    case ymdHMS = "YMD_HMS"
    /// `YYYY-MM-DD HH:MM:SS.SSS`
    case ymdHMSS = "YMD_HMSS"
    /// `HH:MM`
    case hm = "HM"
    /// `HH:MM:SS`
    case hms = "HMS"
    /// `HH:MM:SS.SSS`
    case hmss = "HMSS"

    /// The separator between date and time.
    public enum Separator: Hashable, Sendable {
        /// A space, as in `CURRENT_TIMESTAMP`.
        case space
        /// `T`, as in ISO 8601.
        case t
    }

    /// Whether the format contains year, month and day.
    public var hasDate: Bool {
        switch self {
        case .ymd, .ymdHM, .ymdHMS, .ymdHMSS: true
        case .hm, .hms, .hmss: false
        }
    }

    /// Whether the format contains hour and minute.
    public var hasTime: Bool { self != .ymd }

    var hasSeconds: Bool {
        switch self {
        case .ymdHMS, .ymdHMSS, .hms, .hmss: true
        case .ymd, .ymdHM, .hm: false
        }
    }

    var hasFraction: Bool { self == .ymdHMSS || self == .hmss }

    init(date: Bool, seconds: Bool, fraction: Bool) {
        switch (date, seconds, fraction) {
        case (true, _, true): self = .ymdHMSS
        case (true, true, false): self = .ymdHMS
        case (true, false, false): self = .ymdHM
        case (false, _, true): self = .hmss
        case (false, true, false): self = .hms
        case (false, false, false): self = .hm
        }
    }
}
