/// An error in a request, found when it is built or compiled. Its message addresses the author of the script.
package struct RequestError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of error, for programs: `argument`, `unknown_column`, `unknown_table`, `ambiguous`, ...
    package let kind: String
    package let message: String
    /// The names that the message mentions, for programs: `name`, `suggestion`, `table`, ...
    package var fields: [String: String]

    package init(_ kind: String, _ message: String, fields: [String: String] = [:]) {
        self.kind = kind
        self.message = message
        self.fields = fields
    }

    package var description: String { message }
}

extension RequestError {
    static func argument(_ message: String) -> RequestError { RequestError("argument", message) }

    /// Returns the error for an unknown name, which suggests the nearest existing one.
    package static func unknown(
        _ what: String, _ name: String, in place: String? = nil, among names: [String]
    ) -> RequestError {
        var message = "no \(what) `\(name)`" + (place.map { " in \($0)" } ?? "")
        var fields = ["name": name]
        if let nearest = nearestName(to: name, among: names) {
            message += "; did you mean `\(nearest)`?"
            fields["suggestion"] = nearest
        } else {
            message += "."
        }
        if !names.isEmpty {
            message += " Available: \(listedNames(near: name, among: names))"
        }
        return RequestError("unknown_\(what)", message, fields: fields)
    }

    /// Returns the error for an unknown column of a table.
    package static func unknownColumn(_ name: String, in table: TableSchema) -> RequestError {
        unknownColumn(name, inTable: table.name, among: table.columns.map(\.name))
    }

    package static func unknownColumn(_ name: String, inTable table: String, among names: [String]) -> RequestError {
        var error = unknown("column", name, in: "`\(table)`", among: names)
        error.fields["table"] = table
        return error
    }
}
