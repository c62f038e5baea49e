internal import Foundation

/// The changes that a script would make.
public struct PreviewReport: Codable, Sendable, Equatable {
    /// The version of this format, for programs.
    public package(set) var version = 1
    /// The tables whose rows would change, by name.
    public package(set) var tables: [TableChanges] = []
    /// The objects of the schema that would be added, removed or changed.
    public package(set) var schema: [SchemaChange] = []
    /// The script's effects outside of the database, in order, which were not executed.
    public package(set) var effects: [PreviewEffect] = []
    /// Notes about the report for its reader.
    public package(set) var warnings: [String] = []
    /// Why there can be no plan; empty if there can.
    public package(set) var obstacles: [String] = []

    /// Makes a report without changes.
    package init() {}

    /// Whether anything would be different.
    public var hasChanges: Bool {
        !tables.isEmpty || !schema.isEmpty || !effects.isEmpty
    }

    /// The report as JSON, names in snake_case, followed by a line feed.
    ///
    /// - Throws: What `JSONEncoder` throws.
    public func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(self), as: UTF8.self) + "\n"
    }
}
