public import Foundation
public import PeriluneDependencies
public import PeriluneLua

// Apps show `localizedDescription`, which for other Swift errors is "The operation could not be completed".

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
