/// The result of a static check: mistakes in a script, and the functions of the program that it uses.
///
/// The check analyzes the source text and the names that the host provides. It helps authors and reviewers, but it is not a security
/// measure: a script can call a function in ways that the check does not detect.
public struct ScriptCheck: Sendable {
    /// A mistake in the script.
    public struct Finding: Sendable, Equatable, CustomStringConvertible {
        /// The kind of a mistake, for programs.
        public enum Kind: String, Sendable, CaseIterable {
            /// The text does not compile.
            case syntax
            /// A required module does not exist.
            case module
            /// A module of the program does not contain the function, or the function is called with a colon.
            case function
            /// A global variable is defined neither in the script nor in the host.
            case global
            /// A function or table of standard Lua is not available to the host's scripts.
            case withheld
            /// The script does not define a function that the program will call.
            case missing
            /// The definition of an automation is malformed.
            case automation
        }

        /// The kind of the mistake.
        public let kind: Kind
        /// A description of the mistake, for people.
        public let message: String
        /// The line, from 1; `nil` if the mistake concerns the whole script.
        public let line: Int?
        /// The name that the author probably meant.
        public let suggestion: String?

        public var description: String {
            let hint = suggestion.map { "; did you mean `\($0)`?" } ?? ""
            return (line.map { "line \($0): " } ?? "") + message + hint
        }
    }

    /// A registered function that occurs in the script.
    public struct Use: Sendable, Hashable {
        /// The name of the module.
        public let module: String
        /// The name of the function.
        public let function: String
        /// The effect declared when the function was registered.
        public let effect: ScriptModule.Effect
    }

    /// The mistakes, ordered by line.
    public internal(set) var findings: [Finding] = []
    /// The names of the modules that the script requires with a string literal, in order.
    public internal(set) var modules: [String] = []
    /// The registered functions that occur in the script, in order.
    public internal(set) var uses: [Use] = []
    /// The names of the automations that the script defines.
    public internal(set) var automations: [String] = []

    /// Whether the check found no mistakes.
    public var isValid: Bool { findings.isEmpty }
}
