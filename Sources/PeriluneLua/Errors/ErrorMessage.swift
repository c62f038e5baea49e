#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The messages of Swift errors.
enum ErrorMessage {
    /// Returns the localized description of an error if it provides one, otherwise the description of its value.
    static func of(_ error: any Error) -> String {
        (error as? any LocalizedError)?.errorDescription ?? String(describing: error)
    }
}
