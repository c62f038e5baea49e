/// A difference between the schema of a database and the one that its migrations make.
package struct SchemaDifference: Equatable, Sendable, CustomStringConvertible {
    package enum Change: String, Sendable {
        /// The migrations make it, and the database has none.
        case missing
        /// The database has it, and no migration makes it.
        case added
        case changed
    }

    package let change: Change
    /// What it is, with its name: "column book.pages".
    package let object: String
    /// For what has changed, how: what the migrations make, and what the database has.
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
    /// What a database that has this schema differs in from what its migrations make.
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
