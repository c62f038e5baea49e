/// The appearance of readable reports.
public struct ScenarioReportStyle: Sendable {
    /// Whether colors are used.
    public var isColored = false
    /// Whether all scenarios are shown, including passed ones.
    public var isVerbose = false
    /// The duration from which a scenario is reported as slow.
    public var slow = Duration.seconds(1)
    /// The number of the slowest scenarios to list at the end.
    public var slowest = 0
    /// The command that runs a scenario again, to which its location and the seed are appended.
    public var command = "perilune test"

    /// Creates the default style, without colors and details.
    public init() {}

    func bold(_ text: String) -> String { TerminalStyle.bold.apply(to: text, if: isColored) }
    func dim(_ text: String) -> String { TerminalStyle.dim.apply(to: text, if: isColored) }
    func red(_ text: String) -> String { TerminalStyle.red.apply(to: text, if: isColored) }
    func strongRed(_ text: String) -> String { TerminalStyle.strongRed.apply(to: text, if: isColored) }
    func green(_ text: String) -> String { TerminalStyle.green.apply(to: text, if: isColored) }
    func yellow(_ text: String) -> String { TerminalStyle.yellow.apply(to: text, if: isColored) }
    func cyan(_ text: String) -> String { TerminalStyle.cyan.apply(to: text, if: isColored) }
}
