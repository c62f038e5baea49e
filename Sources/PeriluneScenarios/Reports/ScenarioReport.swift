/// Writes what happens in a run, in one of the formats.
public protocol ScenarioReport: AnyObject {
    /// Takes what happens next.
    func receive(_ event: ScenarioEvent)
}

/// The formats of reports.
public enum ScenarioReportFormat: String, Sendable, CaseIterable {
    case pretty, dots, tap, tap14, jsonl, junit
    case extendedJUnit = "junit_extended"
}

/// How reports that are made for people look.
public struct ScenarioReportStyle: Sendable {
    public var isColoured = false
    /// Whether all is shown, also of what has passed.
    public var isVerbose = false
    /// From which time on scenarios are told as slow.
    public var slow = Duration.seconds(1)
    /// How a scenario is run again; its place and the seed follow.
    public var command = "perilune test"

    public init() {}

    func bold(_ text: String) -> String { wrap(text, "1") }
    func dim(_ text: String) -> String { wrap(text, "2") }
    func red(_ text: String) -> String { wrap(text, "31") }
    func strongRed(_ text: String) -> String { wrap(text, "1;31") }
    func green(_ text: String) -> String { wrap(text, "32") }
    func yellow(_ text: String) -> String { wrap(text, "33") }
    func cyan(_ text: String) -> String { wrap(text, "36") }

    private func wrap(_ text: String, _ code: String) -> String {
        isColoured && !text.isEmpty ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }
}

extension ScenarioReportFormat {
    /// Makes a report.
    ///
    /// - Parameter write: Takes its text, piece by piece.
    public func makeReport(_ style: ScenarioReportStyle, _ write: @escaping (String) -> Void) -> any ScenarioReport {
        switch self {
        case .pretty: PrettyReport(style, write)
        case .dots: DotsReport(style, write)
        case .tap: TAPReport(version: 13, write)
        case .tap14: TAPReport(version: 14, write)
        case .jsonl: JSONLinesReport(style, write)
        case .junit: JUnitReport(style, isExtended: false, write)
        case .extendedJUnit: JUnitReport(style, isExtended: true, write)
        }
    }
}
