/// A report that writes the events of a run in one of the formats.
public protocol ScenarioReport: AnyObject {
    /// Receives the next event.
    func receive(_ event: ScenarioEvent)
}

/// The formats of reports.
@nonexhaustive
public enum ScenarioReportFormat: String, Sendable, CaseIterable {
    /// The formats of the option `--report`: text for people, a character for each scenario, TAP 13 and 14, JSON lines, JUnit's
    /// XML.
    case pretty, dots, tap, tap14, jsonl, junit
    /// A page for browsers, with all statements and changed rows.
    case html
    /// JUnit's XML with the file, the line and the output of each scenario.
    case extendedJUnit = "junit_extended"
}

extension ScenarioReportFormat {
    /// Creates a report.
    ///
    /// - Parameter write: Receives the text of the report, piece by piece.
    /// - Parameter style: The appearance of the report.
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
