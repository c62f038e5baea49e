public import Foundation
public import PeriluneDependencies
public import PeriluneLua

// Apps show `localizedDescription`, which for other errors of Swift is "The operation could not be completed".

extension LuaError: LocalizedError {
    /// The message with its position.
    public var errorDescription: String? { description }
}

extension ScriptFileError: LocalizedError {
    /// The path, and what the system says.
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
