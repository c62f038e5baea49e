import PeriluneTestTools
import Testing

@testable import PeriluneIsolation

@Suite struct FrameTests {
    private let limits = FrameLimits()

    /// Returns the frames in the bytes, or the reason for which they are invalid.
    private func frames(of bytes: [UInt8], limits: FrameLimits = FrameLimits()) -> Result<[Frame], FrameError> {
        Result { () throws(FrameError) in
            var parser = FrameParser(limits: limits)
            parser.add(bytes)
            var frames: [Frame] = []
            while let frame = try parser.next() { frames.append(frame) }
            return frames
        }
    }

    private func reason(_ bytes: [UInt8], limits: FrameLimits = FrameLimits()) -> FrameError.Reason? {
        if case .failure(let error) = frames(of: bytes, limits: limits) { error.reason } else { nil }
    }

    @Test func `every value round-trips through a frame`() throws {
        var generator = SeededGenerator(state: 1)
        for _ in 0..<2000 {
            let frame = generator.frame()
            #expect(try frames(of: frame.encoded()).get() == [frame])
        }
    }

    @Test func `frames are found in bytes that arrive in pieces of any size`() throws {
        var generator = SeededGenerator(state: 2)
        let sent = (0..<50).map { _ in generator.frame() }
        let bytes = try sent.flatMap { try $0.encoded() }
        for size in [1, 2, 3, 7, 64, 1000] {
            var parser = FrameParser()
            var received: [Frame] = []
            for start in stride(from: 0, to: bytes.count, by: size) {
                parser.add(bytes[start..<min(start + size, bytes.count)])
                while let frame = try parser.next() { received.append(frame) }
            }
            #expect(received == sent)
            #expect(parser.waitingByteCount == 0)
        }
    }

    @Test func `a truncated frame is incomplete, and a frame with a wrong length is refused or incomplete`() throws {
        let bytes = try Frame(kind: 1, request: 2, values: [.text("tea"), .list([.integer(1)])]).encoded()
        for count in 0..<bytes.count { #expect(try frames(of: Array(bytes[..<count])).get() == []) }
        var shorter = bytes
        shorter[0] -= 1
        #expect(reason(shorter) == .truncated)
        var longer = bytes + [0]
        longer[0] += 1
        #expect(reason(longer) == .trailingBytes)
    }

    @Test func `a frame with a huge length is refused before its bytes arrive`() {
        #expect(reason([0xFF, 0xFF, 0xFF, 0xFF]) == .tooLarge)
        #expect(reason([0xFF, 0xFF, 0xFF, 0x7F, 1]) == .tooLarge)
        // 16 MB and one byte.
        #expect(reason([0x01, 0x00, 0x00, 0x01]) == .tooLarge)
    }

    @Test func `a huge count inside a small frame allocates nothing`() {
        let header: [UInt8] = [1, 0, 0, 0, 0]
        // A list, a table, a string and a blob that claim 4 billion elements.
        for tag in [UInt8(9), 10, 6, 7, 11] {
            let body = header + [1, 0, 0, 0, tag, 0xFF, 0xFF, 0xFF, 0xFF]
            #expect(reason([UInt8(body.count), 0, 0, 0] + body) == .truncated)
        }
        let body = header + [0xFF, 0xFF, 0xFF, 0xFF]
        #expect(reason([UInt8(body.count), 0, 0, 0] + body) == .truncated)
    }

    @Test func `values that are nested too deeply are refused on both sides`() throws {
        var value = WireValue.nil
        for _ in 0..<limits.depth { value = .list([value]) }
        let error = #expect(throws: FrameError.self) { try Frame(kind: 1, request: 0, values: [value]).encoded() }
        #expect(error?.reason == .tooDeep)
        // 100,000 nested lists of 5 bytes each.
        var body: [UInt8] = [1, 0, 0, 0, 0, 1, 0, 0, 0]
        for _ in 0..<100_000 { body += [9, 1, 0, 0, 0] }
        body.append(0)
        let size = body.count
        #expect(reason((0..<4).map { UInt8(truncatingIfNeeded: size >> (8 * $0)) } + body) == .tooDeep)
    }

    @Test func `too many values and too many bytes are refused on both sides`() throws {
        var small = FrameLimits()
        (small.valueCount, small.sizeInBytes) = (10, 100)
        let many = Frame(kind: 1, request: 0, values: Array(repeating: .nil, count: 11))
        #expect(#expect(throws: FrameError.self) { try many.encoded(limits: small) }?.reason == .tooManyValues)
        #expect(try reason(many.encoded(), limits: small) == .tooManyValues)
        let nested = Frame(
            kind: 1, request: 0, values: [.list(Array(repeating: .nil, count: 6)), .list(Array(repeating: .nil, count: 6))])
        #expect(try reason(nested.encoded(), limits: small) == .tooManyValues)
        let large = Frame(kind: 1, request: 0, values: [.string(Array(repeating: 65, count: 100))])
        #expect(#expect(throws: FrameError.self) { try large.encoded(limits: small) }?.reason == .tooLarge)
        #expect(try reason(large.encoded(), limits: small) == .tooLarge)
    }

    @Test func `random bytes are refused or decoded, and decoded frames never exceed their bytes`() {
        var generator = SeededGenerator(state: 3)
        var refused = 0
        for _ in 0..<20_000 {
            let body = generator.bytes(upTo: 80)
            switch frames(of: [UInt8(body.count), 0, 0, 0] + body) {
            case .success(let frames): #expect(frames.allSatisfy { $0.values.count <= body.count })
            case .failure: refused += 1
            }
        }
        #expect(refused > 10_000)
    }

    @Test func `frames with changed, missing or repeated bytes are refused or decoded`() throws {
        var generator = SeededGenerator(state: 4)
        var (whole, refused) = (0, 0)
        for _ in 0..<20_000 {
            var bytes = try generator.frame().encoded()
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let index = Int.random(in: bytes.indices, using: &generator)
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: bytes[index] = .random(in: 0...255, using: &generator)
                case 1 where bytes.count > 1: bytes.remove(at: index)
                default: bytes.insert(bytes[index], at: index)
                }
            }
            if case .success = frames(of: bytes) { whole += 1 } else { refused += 1 }
        }
        #expect(whole > 1000)
        #expect(refused > 1000)
    }
}
