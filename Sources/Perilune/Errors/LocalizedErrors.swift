public import Foundation
public import PeriluneDependencies
public import PeriluneLua

// Conformances to `LocalizedError`. Without them, `localizedDescription` would be "The operation could not be completed".

extension LuaError: LocalizedError {
    /// The message with its position.
    public var errorDescription: String? { description }
}

extension ScriptFileError: LocalizedError {
    /// The path, and the system's message.
    public var errorDescription: String? { description }
}

extension PlanError: LocalizedError {
    /// The message.
    public var errorDescription: String? { description }
}

extension ChangesetError: LocalizedError {
    /// The message.
    public var errorDescription: String? { description }
}

extension DependencyError: LocalizedError {
    /// The message.
    public var errorDescription: String? { description }
}
