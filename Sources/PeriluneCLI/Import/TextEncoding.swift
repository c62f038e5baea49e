import ArgumentParser
internal import Foundation

/// The encoding of a text file.
enum TextEncoding: String, CaseIterable, ExpressibleByArgument, Sendable {
    case utf8 = "utf-8"
    case utf16 = "utf-16"
    case latin1 = "latin-1"
    case windows1252 = "windows-1252"

    static var names: String { allCases.map(\.rawValue).joined(separator: ", ") }

    /// Returns the encoding indicated by a byte order mark or by the zeros of UTF-16; otherwise UTF-8 if the bytes are valid, else
    /// Windows-1252.
    static func detect(_ bytes: [UInt8]) -> TextEncoding {
        if hasByteOrderMark(bytes) || orderOfUTF16(bytes) != nil { return .utf16 }
        return String(validating: bytes, as: UTF8.self) != nil ? .utf8 : .windows1252
    }

    private static func hasByteOrderMark(_ bytes: [UInt8]) -> Bool {
        bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF])
    }

    /// Returns the byte order of UTF-16 text without a byte order mark, recognized by the zero byte in most of its characters; `nil` for
    /// other text.
    private static func orderOfUTF16(_ bytes: [UInt8]) -> String.Encoding? {
        guard bytes.count.isMultiple(of: 2) else { return nil }
        let sample = bytes.prefix(4096), zeros = sample.indices.filter { sample[$0] == 0 }
        guard zeros.count * 4 > sample.count else { return nil }
        if zeros.allSatisfy({ !$0.isMultiple(of: 2) }) { return .utf16LittleEndian }
        return zeros.allSatisfy { $0.isMultiple(of: 2) } ? .utf16BigEndian : nil
    }

    /// Returns the position of the first invalid byte in a text that is probably UTF-8: it has at least one valid non-ASCII character for
    /// every four errors.
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

    /// Converts the bytes to UTF-8 without a byte order mark; returns `nil` if they are not valid in this encoding.
    func decoded(_ bytes: [UInt8]) -> [UInt8]? {
        switch self {
        case .utf8:
            let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes
            return String(validating: text, as: UTF8.self) == nil ? nil : text
        case .utf16:
            let order = Self.hasByteOrderMark(bytes) ? .utf16 : Self.orderOfUTF16(bytes) ?? .utf16
            return String(data: Data(bytes), encoding: order).map { Array($0.utf8) }
        case .latin1: return String(data: Data(bytes), encoding: .isoLatin1).map { Array($0.utf8) }
        case .windows1252: return String(data: Data(bytes), encoding: .windowsCP1252).map { Array($0.utf8) }
        }
    }
}
