internal import Perilune

/// Text for HTML and XML.
package enum MarkupText {
    /// The text with the characters of markup as entities; control characters are shown as the terminal shows them.
    package static func escaped(_ text: String) -> String {
        var result = ""
        result.reserveCapacity(text.utf8.count)
        for character in DisplayText.escaped(text, keepingLineBreaks: true).unicodeScalars {
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            default: result.unicodeScalars.append(character)
            }
        }
        return result
    }
}
