/// The kind of a binary file, detected by its first bytes.
struct BinaryFile: Equatable {
    /// A phrase that completes "it is ...", such as "a PDF document".
    let name: String
    /// Optional advice on importing the rows of such a file.
    let help: String?

    private static let known: [(start: [UInt8], file: BinaryFile)] = [
        (
            Array("SQLite format 3\0".utf8),
            BinaryFile(name: "an SQLite database", help: "ATTACH it and copy its tables by INSERT ... SELECT")
        ),
        ([0x1F, 0x8B], BinaryFile(name: "packed by gzip", help: "unpack it: gunzip -c FILE | perilune ... -")),
        ([0x28, 0xB5, 0x2F, 0xFD], BinaryFile(name: "packed by zstd", help: "unpack it: zstd -dc FILE | perilune ... -")),
        (
            Array("PK\u{3}\u{4}".utf8),
            BinaryFile(name: "a ZIP archive or a spreadsheet", help: "unpack it, or save the sheet as CSV")
        ),
        (Array("PAR1".utf8), BinaryFile(name: "a Parquet file", help: nil)),
        (Array("%PDF-".utf8), BinaryFile(name: "a PDF document", help: nil)),
        (
            [0xFF, 0xFE, 0, 0],
            BinaryFile(name: "text in UTF-32", help: "convert it: iconv -f UTF-32 -t UTF-8 FILE | perilune ... -")
        ),
    ]

    /// Recognizes a binary file by a known signature, or because it has no detectable text encoding. Returns `nil` for text.
    init?(_ bytes: [UInt8]) {
        guard bytes.contains(0) else { return nil }
        if let found = Self.known.first(where: { bytes.starts(with: $0.start) }) {
            self = found.file
        } else if TextEncoding.detect(bytes) == .windows1252 {
            self.init(name: "a binary file", help: nil)
        } else {
            return nil
        }
    }

    private init(name: String, help: String?) {
        self.name = name
        self.help = help
    }
}
