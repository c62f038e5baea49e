// Hidden from modules that import this one, for the reason given at TOMLDocument.
@_implementationOnly import TOMLKit

/// A value of a TOML file.
package enum TOMLNode: Equatable, Sendable {
    case string(String)
    case integer(Int)
    case number(Double)
    case boolean(Bool)
    case date
    case list([TOMLNode])
    case table([String: TOMLNode])
}

/// The error of a text that is not valid TOML.
package struct TOMLFailure: Error, Equatable {
    package let message: String
    /// The line of the error, starting at 1.
    package let line: Int
}

/// A parser that converts TOML to plain values.
///
/// It is a separate target because TOMLKit adds members to `String`, `Array` and other types. They change the meaning of code such as
/// `list[index]` in every module that imports TOMLKit, even indirectly.
package enum TOMLDocument {
    /// - Throws: ``TOMLFailure`` if the text is not valid TOML.
    package static func read(_ text: String) throws(TOMLFailure) -> [String: TOMLNode] {
        do {
            return values(of: try TOMLTable(string: text))
        } catch let error as TOMLParseError {
            throw TOMLFailure(message: error.description, line: error.source.begin.line)
        } catch {
            throw TOMLFailure(message: "\(error)", line: 1)
        }
    }

    private static func values(of table: TOMLTable) -> [String: TOMLNode] {
        var values: [String: TOMLNode] = [:]
        for key in table.keys {
            guard let value = table[key] else { continue }
            values[key] = node(value)
        }
        return values
    }

    private static func node(_ value: any TOMLValueConvertible) -> TOMLNode {
        if let text = value.string { return .string(text) }
        if let number = value.int { return .integer(number) }
        if let number = value.double { return .number(number) }
        if let flag = value.bool { return .boolean(flag) }
        if let table = value.table { return .table(values(of: table)) }
        return value.array.map { array in .list(array.map(node)) } ?? .date
    }
}
