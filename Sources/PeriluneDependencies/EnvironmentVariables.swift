internal import Foundation

/// The environment variables of the process, or a replacement for tests.
package struct EnvironmentVariables: Sendable, ExpressibleByDictionaryLiteral {
    private let values: [String: String]?

    private init(values: [String: String]?) { self.values = values }

    package init(dictionaryLiteral elements: (String, String)...) {
        self.init(values: Dictionary(elements) { $1 })
    }

    /// The variables of the process, each read on demand: Foundation copies all of them into a dictionary on every access.
    package static let ofProcess = EnvironmentVariables(values: nil)

    package subscript(name: String) -> String? {
        guard let values else { return getenv(name).map { String(cString: $0) } }
        return values[name]
    }

    /// Returns whether a variable is set and not empty.
    package func isSet(_ name: String) -> Bool { !(self[name] ?? "").isEmpty }
}
