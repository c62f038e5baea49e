/// Mistakes in a script, and the functions it needs from the program, determined without running it.
///
/// The check reads the text of the script and the names available in the host. It helps authors and reviewers but does not protect: a
/// script can call a function in ways that the check does not detect.
public struct ScriptCheck: Sendable {
    /// A fault.
    public struct Finding: Sendable, Equatable, CustomStringConvertible {
        /// The kind of a fault, for programs.
        public enum Kind: String, Sendable, CaseIterable {
            /// The text does not compile.
            case syntax
            /// A required module does not exist.
            case module
            /// A module of the program lacks the function, or the function is called with a colon.
            case function
            /// A global variable that is defined neither in the text nor in the host.
            case global
            /// A function or table of standard Lua that is not available to scripts of the host.
            case withheld
            /// A function required by the program is missing.
            case missing
            /// The definition of an automation is malformed.
            case automation
        }

        /// The kind of the fault.
        public let kind: Kind
        /// Describes the fault, for people.
        public let message: String
        /// The line, from 1; `nil` for the whole script.
        public let line: Int?
        /// The name that was probably meant.
        public let suggestion: String?

        public var description: String {
            let hint = suggestion.map { "; did you mean `\($0)`?" } ?? ""
            return (line.map { "line \($0): " } ?? "") + message + hint
        }
    }

    /// A function of the program that occurs in the text.
    public struct Use: Sendable, Hashable {
        /// The module.
        public let module: String
        /// The function.
        public let function: String
        /// The effect declared when the function was registered.
        public let effect: ScriptModule.Effect
    }

    /// The faults, in the order of their lines.
    public internal(set) var findings: [Finding] = []
    /// The modules that the text requires by name, in order.
    public internal(set) var modules: [String] = []
    /// The functions of the program that occur in the text, in order.
    public internal(set) var uses: [Use] = []
    /// The names of the automations defined in the text.
    public internal(set) var automations: [String] = []

    /// Whether no fault was found.
    public var isValid: Bool { findings.isEmpty }
}
