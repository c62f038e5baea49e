internal import Perilune

/// Conversion of text to HTML and XML.
package enum MarkupText {
    /// Replaces markup characters with entities. Control characters are escaped like in the terminal.
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
