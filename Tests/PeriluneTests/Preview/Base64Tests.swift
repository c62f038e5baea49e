import Foundation
import Perilune
import Testing

@Suite struct Base64Tests {
    private func text(_ bytes: [UInt8], pieces: Int) -> String {
        var (encoder, text) = (Base64.Encoder(), [UInt8]())
        for start in stride(from: 0, to: bytes.count, by: pieces) {
            Array(bytes[start..<min(start + pieces, bytes.count)]).withUnsafeBytes { encoder.encode($0, to: &text) }
        }
        encoder.finish(to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// `nil` if the text is not base64.
    private func bytes(_ text: String, pieces: Int) -> [UInt8]? {
        var (decoder, bytes) = (Base64.Decoder(), [UInt8]())
        let letters = Array(text.utf8)
        for start in stride(from: 0, to: letters.count, by: pieces) {
            let piece = Array(letters[start..<min(start + pieces, letters.count)])
            guard piece.withUnsafeBytes({ decoder.decode($0, to: &bytes) }) else { return nil }
        }
        return decoder.isComplete ? bytes : nil
    }

    @Test func `encoding bytes in pieces of any size gives the same base64 as Foundation`() {
        let all = (0..<300).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ $0 / 7) }
        for count in [0, 1, 2, 3, 4, 5, 6, 64, 255, 298, 299, 300] {
            let some = Array(all.prefix(count))
            for pieces in [1, 2, 3, 4, 7, 64, 1000] {
                let text = text(some, pieces: pieces)
                #expect(text == Data(some).base64EncodedString())
                #expect(bytes(text, pieces: pieces) == some)
            }
        }
    }

    @Test(arguments: [
        "A", "AA", "AAA", "A===", "====", "=AAA", "AA=A", "AA==AAAA", "AAA=A", "AA=", "AAA==", "AA===", "AA\nAA", "AA-A", "ÄAA",
    ])
    func `invalid base64 is refused`(text: String) {
        for pieces in [1, 3, 100] { #expect(bytes(text, pieces: pieces) == nil) }
    }
}
