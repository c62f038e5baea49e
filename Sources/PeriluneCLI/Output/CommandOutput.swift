internal import Foundation
internal import Perilune
internal import PeriluneDependencies

/// Messages of commands on standard error, and the colors of both output streams.
enum CommandOutput {
    static func errorColors(_ choice: ColorChoice) -> Colors {
        colors(choice, isTerminal: StandardStreams.isErrorTerminal)
    }

    static func outputColors(_ choice: ColorChoice) -> Colors {
        colors(choice, isTerminal: StandardStreams.isOutputTerminal)
    }

    private static func colors(_ choice: ColorChoice, isTerminal: Bool) -> Colors {
        Colors(choice, environment: .ofProcess, isTerminal: isTerminal)
    }

    /// Writes a line to standard error.
    static func note(_ text: String, _ colors: Colors) {
        StandardStreams.writeError(colors.dim(DisplayText.escaped(text)) + "\n")
    }
}
