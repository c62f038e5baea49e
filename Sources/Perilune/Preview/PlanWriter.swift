internal import Foundation
internal import PeriluneRecords

/// A streaming writer for plans in JSON: first the header, then the changes.
struct PlanWriter {
    /// A closure that writes the next bytes to the file.
    let output: (UnsafeRawBufferPointer) throws -> Void

    /// - Throws: ``StorageError`` if the changes cannot be read, or the error of `output`.
    func write(_ plan: PreviewPlan) throws {
        var header = Array(try PlanHeader.encoder.encode(PlanHeader(plan)))
        // Removes the closing brace, because the changes follow as members of the same object.
        header.removeLast(header.count - (header.lastIndex { $0 != UInt8(ascii: "}") && $0 != UInt8(ascii: "\n") } ?? -1) - 1)
        try write(header)
        var hash = SHA256()
        try write(plan.changes.changeset.bytes, as: PlanHeader.ChangesKey.changeset, adding: &hash)
        try write(plan.changes.seen.rows.bytes, as: PlanHeader.ChangesKey.seen, adding: &hash)
        try write(Array(",\n  \"\(PlanHeader.ChangesKey.hash)\" : \"\(hash.digits())\"\n}\n".utf8))
    }

    private func write(_ bytes: StoredBytes, as key: String, adding hash: inout SHA256) throws {
        try write(Array(",\n  \"\(key)\" : \"".utf8))
        var (encoder, text) = (Base64.Encoder(), [UInt8]())
        try bytes.forEachPiece { piece in
            hash.add(piece)
            text.removeAll(keepingCapacity: true)
            encoder.encode(piece, to: &text)
            try write(text)
        }
        text.removeAll()
        encoder.finish(to: &text)
        try write(text + Array("\"".utf8))
    }

    private func write(_ bytes: [UInt8]) throws {
        try bytes.withUnsafeBytes { try output($0) }
    }
}
