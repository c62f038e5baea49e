internal import Foundation
internal import Perilune

/// What commands say besides their data.
enum CommandOutput {
    static func errorColours(_ choice: ColourChoice) -> Colours {
        colours(choice, isTerminal: StandardStreams.isErrorTerminal)
    }

    static func outputColours(_ choice: ColourChoice) -> Colours {
        colours(choice, isTerminal: StandardStreams.isOutputTerminal)
    }

    private static func colours(_ choice: ColourChoice, isTerminal: Bool) -> Colours {
        Colours(choice, environment: ProcessInfo.processInfo.environment, isTerminal: isTerminal)
    }

    /// Writes a line to standard error.
    static func note(_ text: String, _ colours: Colours) {
        StandardStreams.writeError(colours.dim(DisplayText.escaped(text)) + "\n")
    }
}
