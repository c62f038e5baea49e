/// A text style of a terminal.
package enum TerminalStyle: String, Sendable {
    case bold = "1"
    case dim = "2"
    case red = "31"
    case strongRed = "1;31"
    case green = "32"
    case yellow = "33"
    case cyan = "36"

    /// Returns the text with the style, or unchanged if styles are off.
    package func apply(to text: String, if isOn: Bool) -> String {
        isOn && !text.isEmpty ? "\u{1B}[\(rawValue)m\(text)\u{1B}[0m" : text
    }
}
