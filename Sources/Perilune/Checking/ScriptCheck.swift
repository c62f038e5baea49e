/// Faults of a script, and what it needs from the program, found without running it.
///
/// The check reads the text and the names of the host. It is a help for authors and reviewers, not a protection: a script can reach a
/// function in ways that it does not see.
public struct ScriptCheck: Sendable {
    /// A fault.
    public struct Finding: Sendable, Equatable, CustomStringConvertible {
        /// The kind of a fault, for programs.
        public enum Kind: String, Sendable, CaseIterable {
            /// The text does not compile.
            case syntax
            /// A required module does not exist.
            case module
            /// A module of the program lacks the function, or it is called with a colon.
            case function
            /// A global variable that neither the text nor the host defines.
            case global
            /// A function or table of standard Lua that the host does not give scripts.
            case withheld
            /// A function that the program needs is not defined.
            case missing
            /// The definition of an automation has a wrong shape.
            case automation
        }

        /// The kind of the fault.
        public let kind: Kind
        /// Describes the fault, for people.
        public let message: String
        /// The line, from 1; `nil` for the script as a whole.
        public let line: Int?
        /// The name that was probably meant.
        public let suggestion: String?

        public var description: String {
            let hint = suggestion.map { "; did you mean `\($0)`?" } ?? ""
            return (line.map { "line \($0): " } ?? "") + message + hint
        }
    }

    /// A function of the program that the text names.
    public struct Use: Sendable, Hashable {
        /// The module.
        public let module: String
        /// The function.
        public let function: String
        /// The effect that it was registered with.
        public let effect: ScriptModule.Effect
    }

    /// The faults, in the order of their lines.
    public internal(set) var findings: [Finding] = []
    /// The modules that the text requires by name, in order.
    public internal(set) var modules: [String] = []
    /// The functions of the program that the text names, in order.
    public internal(set) var uses: [Use] = []
    /// The names of the automations that the text defines.
    public internal(set) var automations: [String] = []

    /// Whether no fault was found.
    public var isValid: Bool { findings.isEmpty }
}
