internal import Foundation
internal import PeriluneRecords

/// A report of the changes that a script would make.
public struct PreviewReport: Codable, Sendable, Equatable {
    /// The version of the JSON format, for programs.
    package var version = 1
    /// The tables whose rows would change, ordered by name.
    public package(set) var tables: [TableChanges] = []
    /// The schema objects that would be added, removed or changed.
    public package(set) var schema: [SchemaChange] = []
    /// The script's effects outside of the database, in order. The preview did not execute them.
    public package(set) var effects: [PreviewEffect] = []
    /// Warnings about changes that may be missing from the report.
    public package(set) var warnings: [String] = []
    /// The reasons why a plan cannot be made; empty if a plan can be made.
    public package(set) var obstacles: [String] = []

    /// Creates a report without changes.
    package init() {}

    /// Removes changes to rows and schema objects that only the library uses.
    mutating func removeProgress() {
        tables.removeAll { OwnTables.recordsProgress($0.name) }
        schema.removeAll { OwnTables.recordsProgress($0.table) || $0.name.foldedName.hasPrefix(OwnTables.triggerPrefix) }
    }

    /// The library's own tables that would be created, if the schema would not change otherwise; empty if it would.
    package var missingOwnTables: [String] {
        guard schema.allSatisfy({ OwnTables.own($0.name, of: $0.table) && $0.kind == .added }) else { return [] }
        return schema.filter { $0.type == "table" }.map(\.name)
    }

    /// Whether the script would change rows or the schema, or have effects outside of the database.
    public var hasChanges: Bool {
        !tables.isEmpty || !schema.isEmpty || !effects.isEmpty
    }

    /// Returns the report as JSON with keys in snake case, followed by a line feed.
    ///
    /// - Throws: An error of `JSONEncoder`.
    public func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(self), as: UTF8.self) + "\n"
    }
}
