import PeriluneDependencies
import Testing

@testable import PeriluneCLI

@Suite struct ColorsTests {
    @Test(
        arguments: [
            (ColorChoice.auto, [:], true, true),
            (.auto, [:], false, false),
            (.auto, ["TERM": "dumb"], true, false),
            (.auto, ["TERM": "xterm"], true, true),
            (.auto, ["NO_COLOR": "1"], true, false),
            (.auto, ["NO_COLOR": ""], true, true),
            (.auto, ["NO_COLOR": "1", "FORCE_COLOR": "1"], true, false),
            (.auto, ["FORCE_COLOR": "1"], false, true),
            (.auto, ["FORCE_COLOR": "1", "TERM": "dumb"], false, true),
            (.auto, ["FORCE_COLOR": "0"], false, false),
            (.auto, ["FORCE_COLOR": ""], false, false),
            (.auto, ["CLICOLOR_FORCE": "1"], false, true),
            (.auto, ["CLICOLOR_FORCE": "0"], true, true),
            (.always, ["NO_COLOR": "1", "TERM": "dumb"], false, true),
            (.never, ["FORCE_COLOR": "1"], true, false),
        ] as [(ColorChoice, EnvironmentVariables, Bool, Bool)])
    func `the option takes precedence, then NO_COLOR, then forcing variables, then the terminal`(
        choice: ColorChoice, environment: EnvironmentVariables, isTerminal: Bool, isOn: Bool
    ) {
        #expect(Colors(choice, environment: environment, isTerminal: isTerminal).isOn == isOn)
    }

    @Test func `without colors, text is unchanged`() {
        #expect(Colors.off.red("x") == "x")
        #expect(Colors(isOn: true).red("x") == "\u{1B}[1;31mx\u{1B}[0m")
        #expect(Colors(isOn: true).red("") == "")
    }
}
