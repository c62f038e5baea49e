import ArgumentParser
internal import PeriluneDependencies
internal import PeriluneScenarios

/// The values of `--color`.
enum ColorChoice: String, CaseIterable, ExpressibleByArgument, Sendable {
    case auto, always, never
}

/// A choice of colored or plain text.
struct Colors: Equatable, Sendable {
    let isOn: Bool

    static let off = Colors(isOn: false)

    init(isOn: Bool) {
        self.isOn = isOn
    }

    /// Chooses colors by the flag, then `NO_COLOR`, then `FORCE_COLOR` and `CLICOLOR_FORCE`, then by whether the stream is a
    /// terminal with colors.
    ///
    /// - SeeAlso: no-color.org, force-color.org, bixense.com/clicolors. `FORCE_COLOR=0` has no effect, because programs disagree on
    ///   its meaning.
    init(_ choice: ColorChoice, environment: EnvironmentVariables, isTerminal: Bool) {
        func isForced(_ name: String) -> Bool { environment.isSet(name) && environment[name] != "0" }
        switch choice {
        case .always: isOn = true
        case .never: isOn = false
        case .auto where environment.isSet("NO_COLOR"): isOn = false
        case .auto where isForced("FORCE_COLOR") || isForced("CLICOLOR_FORCE"): isOn = true
        case .auto: isOn = isTerminal && environment["TERM"] != "dumb"
        }
    }

    func bold(_ text: String) -> String { TerminalStyle.bold.apply(to: text, if: isOn) }
    func dim(_ text: String) -> String { TerminalStyle.dim.apply(to: text, if: isOn) }
    func red(_ text: String) -> String { TerminalStyle.strongRed.apply(to: text, if: isOn) }
    func cyan(_ text: String) -> String { TerminalStyle.cyan.apply(to: text, if: isOn) }
    func green(_ text: String) -> String { TerminalStyle.green.apply(to: text, if: isOn) }
}
