/// Writes the events of a run, in one of the formats.
public protocol ScenarioReport: AnyObject {
    /// Receives the next event.
    func receive(_ event: ScenarioEvent)
}

/// The formats of reports.
@nonexhaustive
public enum ScenarioReportFormat: String, Sendable, CaseIterable {
    /// The formats of the option `--report`: for people, a character for each scenario, TAP 13 and 14, JSON lines, JUnit's XML.
    case pretty, dots, tap, tap14, jsonl, junit
    /// A page for browsers, with all statements and changed rows.
    case html
    /// JUnit's XML with the file, the line and the output of each scenario.
    case extendedJUnit = "junit_extended"
}

/// How reports that are made for people look.
public struct ScenarioReportStyle: Sendable {
    /// Whether colors are used.
    public var isColored = false
    /// Whether everything is shown, including passed scenarios.
    public var isVerbose = false
    /// The duration from which scenarios are reported as slow.
    public var slow = Duration.seconds(1)
    /// How many of the slowest scenarios are listed at the end.
    public var slowest = 0
    /// How a scenario is run again; its place and the seed follow.
    public var command = "perilune test"

    /// The default style: no colours, no details.
    public init() {}

    func bold(_ text: String) -> String { TerminalStyle.bold.apply(to: text, if: isColored) }
    func dim(_ text: String) -> String { TerminalStyle.dim.apply(to: text, if: isColored) }
    func red(_ text: String) -> String { TerminalStyle.red.apply(to: text, if: isColored) }
    func strongRed(_ text: String) -> String { TerminalStyle.strongRed.apply(to: text, if: isColored) }
    func green(_ text: String) -> String { TerminalStyle.green.apply(to: text, if: isColored) }
    func yellow(_ text: String) -> String { TerminalStyle.yellow.apply(to: text, if: isColored) }
    func cyan(_ text: String) -> String { TerminalStyle.cyan.apply(to: text, if: isColored) }
}

extension ScenarioReportFormat {
    /// Makes a report.
    ///
    /// - Parameter write: Takes its text, piece by piece.
    /// - Parameter style: How the report looks.
    public func makeReport(_ style: ScenarioReportStyle, _ write: @escaping (String) -> Void) -> any ScenarioReport {
        switch self {
        case .pretty: PrettyReport(style, write)
        case .dots: DotsReport(style, write)
        case .tap: TAPReport(version: 13, write)
        case .tap14: TAPReport(version: 14, write)
        case .html: HTMLReport(style, write)
        case .jsonl: JSONLinesReport(style, write)
        case .junit: JUnitReport(style, isExtended: false, write)
        case .extendedJUnit: JUnitReport(style, isExtended: true, write)
        }
    }
}
