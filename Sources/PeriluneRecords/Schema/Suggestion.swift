package import GRDB

/// The names of a database's tables, columns and functions, for suggestions in errors about unknown names.
package struct SchemaNames: Equatable, Sendable {
    package struct Table: Equatable, Sendable {
        package var name: String
        package var columns: [String]

        package init(name: String, columns: [String]) {
            (self.name, self.columns) = (name, columns)
        }
    }

    /// The tables and views, with their columns.
    package var tables: [Table] = []
    package var functions: [String] = []
    /// The tables and views of attached databases, by the names of the databases.
    package var attached: [String: [String]] = [:]

    package init(tables: [Table] = [], functions: [String] = []) {
        (self.tables, self.functions) = (tables, functions)
    }

    /// Reads the names from a database.
    package init(of db: Database) throws {
        let names = try String.fetchAll(
            db,
            sql: """
                /* perilune */ SELECT name FROM (SELECT * FROM sqlite_master UNION ALL SELECT * FROM sqlite_temp_master)
                WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite@_%' ESCAPE '@' ORDER BY name
                """)
        for name in names {
            // SQLite cannot list the columns of an invalid view.
            let columns = try? String.fetchAll(
                db, sql: "/* perilune */ SELECT name FROM pragma_table_info(?)", arguments: [name])
            tables.append(Table(name: name, columns: columns ?? []))
        }
        let others = try String.fetchAll(
            db, sql: "/* perilune */ SELECT name FROM pragma_database_list WHERE name NOT IN ('main', 'temp')")
        for other in others {
            attached[other] = try String.fetchAll(
                db,
                sql: """
                    /* perilune */ SELECT name FROM \(other.quotedName).sqlite_master
                    WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite@_%' ESCAPE '@' ORDER BY name
                    """)
        }
        functions = try String.fetchAll(db, sql: "/* perilune */ SELECT DISTINCT name FROM pragma_function_list ORDER BY name")
    }
}

/// The suggestion for an error about an unknown name.
package struct Suggestion: Equatable {
    /// The help text for people: `did you mean ...?` and a list of existing names.
    package let help: String
    /// The suggested names.
    package let names: [String]

    /// Returns whether an SQLite message concerns an unknown name.
    package static func concerns(_ message: String) -> Bool {
        message.hasPrefix("no such ") || message.contains(" has no column named ")
    }

    /// Creates a suggestion for an SQLite message.
    ///
    /// - Returns: `nil` if the message does not concern an unknown name, or no suggestion is available.
    package init?(message: String, sql: String?, schema: SchemaNames) {
        if let name = Self.name(after: "no such table: ", in: message) {
            if let place = schema.attached.keys.first(where: { name.foldedName.hasPrefix($0.foldedName + ".") }) {
                self.init(table: String(name.dropFirst(place.count + 1)), in: place, schema.attached[place] ?? [])
                return
            }
            self.init(name, among: schema.tables.map(\.name), listing: "tables")
        } else if let name = Self.name(after: "no such column: ", in: message) {
            if let suggestion = Suggestion(column: name, in: schema.tables(mentionedIn: sql)), !suggestion.names.isEmpty {
                self = suggestion
            } else if let sql, SQLNames(in: sql).containsInDoubleQuotes(name) {
                self.init(help: "write text in single quotes: '\(name)'", names: [])
            } else {
                self.init(column: name, in: schema.tables(mentionedIn: sql))
            }
        } else if let name = Self.name(after: "no such function: ", in: message) {
            self.init(name, among: schema.functions, listing: nil)
        } else if let (table, column) = Self.tableAndColumn(in: message) {
            self.init(column: column, in: schema.tables.filter { $0.name.foldedName == table.foldedName })
        } else {
            return nil
        }
    }

    private init(help: String, names: [String]) {
        self.help = help
        self.names = names
    }

    /// Creates a suggestion for a table that is missing in an attached database. SQLite creates an empty file if the path of ATTACH is
    /// mistyped.
    private init(table name: String, in database: String, _ tables: [String]) {
        let nearest = nearestName(to: name, among: tables)
        let listed = tables.isEmpty ? "the attached database \(database) is empty; is that the path of its file?" : nil
        let parts = [nearest.map { "did you mean `\($0)`?" }, listed ?? "tables of \(database): \(Self.list(tables))"]
        self.init(help: parts.compactMap { $0 }.joined(separator: "  "), names: nearest.map { [$0] } ?? [])
    }

    private init?(_ name: String, among names: [String], listing list: String?) {
        let nearest = nearestName(to: Self.unqualified(name), among: names)
        let listed = list.map { "\($0): \(Self.list(names))" }
        let parts = [nearest.map { "did you mean `\($0)`?" }, names.isEmpty ? nil : listed].compactMap { $0 }
        guard !parts.isEmpty else { return nil }
        help = parts.joined(separator: "  ")
        self.names = nearest.map { [$0] } ?? []
    }

    private init?(column name: String, in tables: [SchemaNames.Table]) {
        let nearest = nearestName(to: Self.unqualified(name), among: tables.flatMap(\.columns))
        let owners = tables.filter { table in nearest.map(table.columns.contains) ?? true }
        // Lists the columns of only one table, because the columns of all tables would be too many.
        let listed = owners.count == 1 || nearest != nil ? owners.first : nil
        let parts = [
            nearest.map { "did you mean `\($0)`?" },
            listed.map { "\($0.name) has: \(Self.list($0.columns))" },
        ].compactMap { $0 }
        guard !parts.isEmpty else { return nil }
        help = parts.joined(separator: "  ")
        names = nearest.map { [$0] } ?? []
    }

    private static func list(_ names: [String]) -> String {
        let limit = 20
        return names.prefix(limit).joined(separator: ", ") + (names.count > limit ? ", ..." : "")
    }

    private static func name(after prefix: String, in message: String) -> String? {
        guard message.hasPrefix(prefix) else { return nil }
        var name = String(message.dropFirst(prefix.count))
        // Removes the hint of newer SQLite versions: - should this be a string literal in single-quotes?
        if let addition = name.firstRange(of: " - should this be") { name = String(name[..<addition.lowerBound]) }
        return name.filter { $0 != "\"" }
    }

    /// Parses a message such as `table invoice has no column named totl`.
    private static func tableAndColumn(in message: String) -> (table: String, column: String)? {
        guard message.hasPrefix("table "), let middle = message.firstRange(of: " has no column named ") else {
            return nil
        }
        let table = message[..<middle.lowerBound].dropFirst("table ".count)
        return (unqualified(String(table)), String(message[middle.upperBound...]))
    }

    /// Returns a name without its qualifier: a schema, table or alias.
    private static func unqualified(_ name: String) -> String {
        name.lastIndex(of: ".").map { String(name[name.index(after: $0)...]) } ?? name
    }
}

extension SchemaNames {
    /// Returns the tables whose names occur in the SQL, or all tables if no name occurs.
    fileprivate func tables(mentionedIn sql: String?) -> [Table] {
        guard let sql else { return tables }
        let names = SQLNames(in: sql)
        let mentioned = tables.filter { names.contains($0.name) }
        return mentioned.isEmpty ? tables : mentioned
    }
}
