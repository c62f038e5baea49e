#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The messages of Swift errors.
enum ErrorMessage {
    /// Returns the localized description of an error if it has one, otherwise the description of the error's value.
    static func of(_ error: any Error) -> String {
        (error as? any LocalizedError)?.errorDescription ?? String(describing: error)
    }
}
