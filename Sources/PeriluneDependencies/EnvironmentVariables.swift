internal import Foundation

/// Environment variables: those of the process, or others in their place.
package struct EnvironmentVariables: Sendable, ExpressibleByDictionaryLiteral {
    private let values: [String: String]?

    private init(values: [String: String]?) { self.values = values }

    package init(dictionaryLiteral elements: (String, String)...) {
        self.init(values: Dictionary(elements) { $1 })
    }

    /// Those of the process. Each is read when it is asked for: Foundation makes a dictionary of all of them each time.
    package static let ofProcess = EnvironmentVariables(values: nil)

    package subscript(name: String) -> String? {
        guard let values else { return getenv(name).map { String(cString: $0) } }
        return values[name]
    }

    /// Whether a variable has a value that is not empty.
    package func isSet(_ name: String) -> Bool { !(self[name] ?? "").isEmpty }
}
