internal import Foundation
internal import PeriluneRecords

/// Tick marks of a date axis at the starts of years, months, days or hours.
struct DateAxis {
    /// The tick marks: seconds since 1970 with their labels.
    private(set) var ticks: [(place: Double, text: String)] = []

    private static let seconds: [Double] = [
        1, 5, 15, 30, 60, 300, 900, 1800, 3600, 3 * 3600, 6 * 3600, 12 * 3600, 86400, 2 * 86400, 7 * 86400, 14 * 86400,
    ]
    /// Step lengths in months, up to 500 years.
    private static let months = [1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 2400, 6000]

    init(_ range: ClosedRange<Double>, count: Int) {
        let span = range.upperBound - range.lowerBound, most = Double(max(count, 2))
        if let step = Self.seconds.first(where: { span / $0 <= most }) {
            let first = (range.lowerBound / step).rounded(.up), last = (range.upperBound / step).rounded(.down)
            ticks = stride(from: first, through: last, by: 1).compactMap { number in
                Self.date(number * step).map { (number * step, Self.text($0, step)) }
            }
        } else {
            addMonths(range, Self.months.first { span / (Double($0) * 2_629_746) <= most } ?? 12000)
        }
    }

    private mutating func addMonths(_ range: ClosedRange<Double>, _ step: Int) {
        guard let start = Self.date(range.lowerBound) else { return }
        var month = (start.year * 12 + start.month - 1) / step * step
        while ticks.count < 100 {
            let (year, number) = (month / 12, month % 12 + 1)
            let text = String(format: "%04d-%02d", year, number)
            guard let date = try? DateTime(parsing: text + "-01") else { return }
            let place = Double(date.microsecondsSince1970) / 1e6
            if place > range.upperBound { return }
            if place >= range.lowerBound { ticks.append((place, step % 12 == 0 ? String(text.prefix(4)) : text)) }
            month += step
        }
    }

    private static func date(_ place: Double) -> DateTime? {
        try? DateTime(microsecondsSince1970: Int64((place * 1e6).rounded()))
    }

    private static func text(_ date: DateTime, _ step: Double) -> String {
        let day = String(format: "%04d-%02d-%02d", date.year, date.month, date.day)
        if step >= 86400 { return day }
        let time = String(format: "%02d:%02d", date.hour, date.minute)
        if step < 60 { return time + String(format: ":%02d", date.second) }
        return date.hour == 0 && date.minute == 0 ? day : time
    }
}
