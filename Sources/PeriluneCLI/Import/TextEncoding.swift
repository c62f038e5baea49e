import ArgumentParser
internal import Foundation

/// How a file of text is encoded.
enum TextEncoding: String, CaseIterable, ExpressibleByArgument, Sendable {
    case utf8 = "utf-8"
    case utf16 = "utf-16"
    case latin1 = "latin-1"
    case windows1252 = "windows-1252"

    static var names: String { allCases.map(\.rawValue).joined(separator: ", ") }

    /// Finds out by the mark at the start; else UTF-8 if the bytes are that, else what Windows has used for long.
    static func detect(_ bytes: [UInt8]) -> TextEncoding {
        if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) { return .utf16 }
        return String(validating: bytes, as: UTF8.self) != nil ? .utf8 : .windows1252
    }

    /// The place of the first byte that is not UTF-8 in a text that otherwise is: most of its characters beyond ASCII are valid.
    static func flawOfUTF8(_ bytes: [UInt8]) -> Int? {
        var parser = Unicode.UTF8.ForwardParser(), iterator = bytes.makeIterator()
        var position = 0, validCount = 0, invalidCount = 0, first: Int?
        while true {
            switch parser.parseScalar(from: &iterator) {
            case .valid(let scalar):
                if scalar.count > 1 { validCount += 1 }
                position += scalar.count
            case .error(let length):
                invalidCount += 1
                first = first ?? position
                position += length
            case .emptyInput: return validCount > 0 && validCount * 4 >= invalidCount ? first : nil
            }
        }
    }

    /// The bytes in UTF-8, without a mark at the start; `nil` if they are not in this encoding.
    func decoded(_ bytes: [UInt8]) -> [UInt8]? {
        switch self {
        case .utf8:
            let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes
            return String(validating: text, as: UTF8.self) == nil ? nil : text
        case .utf16: return String(data: Data(bytes), encoding: .utf16).map { Array($0.utf8) }
        case .latin1: return String(data: Data(bytes), encoding: .isoLatin1).map { Array($0.utf8) }
        case .windows1252: return String(data: Data(bytes), encoding: .windowsCP1252).map { Array($0.utf8) }
        }
    }
}
