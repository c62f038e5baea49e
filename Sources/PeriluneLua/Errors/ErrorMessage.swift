#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// What errors of Swift say to people.
enum ErrorMessage {
    /// The description that an error gives of itself, else its value.
    static func of(_ error: any Error) -> String {
        (error as? any LocalizedError)?.errorDescription ?? String(describing: error)
    }
}
