/// A difference between the schema of a database and the result of its migrations.
package struct SchemaDifference: Equatable, Sendable, CustomStringConvertible {
    package enum Change: String, Sendable {
        /// The migrations create the object, but the database does not have it.
        case missing
        /// The database has the object, but no migration creates it.
        case added
        case changed
    }

    package let change: Change
    /// The kind and name of the object: "column book.pages".
    package let object: String
    /// The expected and the actual definition of a changed object.
    package let detail: String?

    init(_ change: Change, _ object: String, _ detail: String? = nil) {
        self.change = change
        self.object = object
        self.detail = detail
    }

    package var description: String {
        "\(change.rawValue): \(object)" + (detail.map { " (\($0))" } ?? "")
    }
}

extension SchemaContents {
    /// Returns the differences between this schema and the expected one.
    package func differences(from expected: SchemaContents) -> [SchemaDifference] {
        let missing = expected.objects.filter { find($0) == nil }.map { SchemaDifference(.missing, $0.title) }
        let added = objects.filter { expected.find($0) == nil }.map { SchemaDifference(.added, $0.title) }
        let changed = objects.flatMap { object in expected.find(object).map { object.differences(from: $0) } ?? [] }
        return missing + added + changed
    }

    private func find(_ object: Object) -> Object? {
        objects.first { $0.type == object.type && $0.name == object.name }
    }
}

extension SchemaContents.Object {
    fileprivate var title: String { "\(type) \(name)" }

    fileprivate func differences(from expected: SchemaContents.Object) -> [SchemaDifference] {
        guard self != expected else { return [] }
        let columns = columnDifferences(from: expected)
        guard columns.isEmpty else { return columns }
        return [SchemaDifference(.changed, title, "its SQL differs")]
    }

    private func columnDifferences(from expected: SchemaContents.Object) -> [SchemaDifference] {
        let names = columns.map(\.name)
        let expectedNames = expected.columns.map(\.name)
        func title(_ column: String) -> String { "column \(name).\(column)" }
        let missing = expectedNames.filter { !names.contains($0) }.map { SchemaDifference(.missing, title($0)) }
        let added = names.filter { !expectedNames.contains($0) }.map { SchemaDifference(.added, title($0)) }
        let changed = columns.compactMap { column -> SchemaDifference? in
            guard let other = expected.columns.first(where: { $0.name == column.name }), other != column else {
                return nil
            }
            return SchemaDifference(
                .changed, title(column.name), "\(other.shown) in the migrations, \(column.shown) here")
        }
        return missing + added + changed
    }
}

extension SchemaContents.Column {
    fileprivate var shown: String { definition.isEmpty ? "no type" : definition }
}
