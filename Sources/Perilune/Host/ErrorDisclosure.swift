internal import Foundation
internal import PeriluneBindings
internal import PeriluneDependencies
public import PeriluneLua

/// A rule that determines whether scripts can see the error messages of the program's functions.
///
/// The error itself always reaches the program, as `LuaError.underlying`. See <doc:ErrorsForTenants>.
public enum ErrorDisclosure: Sendable {
    /// Scripts see only messages written for people: the messages of `LuaError` and `LuaErrorDescribing`, and the `errorDescription` of
    /// `LocalizedError`. For any other error, scripts see a fixed message: a function of the program failed.
    case described
    /// Scripts see the text of every error, including Swift descriptions, which may contain paths and SQL of the program. Suitable for
    /// scripts written by the program's developers.
    case all

    /// Returns whether scripts see the text of an error.
    func shows(_ error: any Error) -> Bool {
        switch self {
        case .all: true
        // These `LocalizedError`s of this package name paths and dependencies of the program.
        case .described:
            (error as? any LocalizedError)?.errorDescription != nil
                && !(error is ScriptFileError || error is DependencyError || error is ChangesetError)
        }
    }

    /// Returns the text of an error that scripts see, which may be a generic message.
    func text(of error: any Error) -> String {
        guard shows(error) else { return LuaState.withheldMessage }
        return (error as? any LocalizedError)?.errorDescription ?? "\(error)"
    }
}

extension LuaError {
    /// The error for the program's log, with the traceback and the original Swift error, which can be hidden from scripts.
    public var logDescription: String {
        var text = description
        if let underlying, !(underlying is LuaError) {
            let cause = (underlying as? any LocalizedError)?.errorDescription ?? "\(underlying)"
            if !text.contains(cause) { text += "\ncaused by \(type(of: underlying)): \(cause)" }
        }
        if let traceback { text += "\n" + traceback }
        return text
    }

    /// The same error without an underlying error of an internal type, which programs cannot catch by type.
    var withoutInternalErrors: LuaError {
        guard let underlying else { return self }
        let type = String(reflecting: Swift.type(of: underlying))
        guard ["PeriluneBindings.", "PeriluneRecords."].contains(where: type.hasPrefix) else { return self }
        var error = self
        error.underlying = nil
        return error
    }
}

extension BindingError {
    /// The `LuaError` that programs receive instead of this internal error.
    var published: LuaError {
        var error = LuaError(.usage, luaMessage, fields: luaFields)
        error.fields["kind"] = .string(luaKind)
        return error
    }
}

/// Runs an operation and converts a thrown `BindingError`, an internal type, to a ``LuaError``.
func publishingErrors<Result>(_ operation: () throws -> Result) throws -> Result {
    do {
        return try operation()
    } catch let error as BindingError {
        throw error.published
    }
}
