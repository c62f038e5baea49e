import Foundation
import Glibc

/// A node with scripted answers, on its own loopback port, serving one client at a time.
final class FakeNode: @unchecked Sendable {
    /// Receives the type and body of a request; returns messages, or `nil` to end the connection.
    typealias Answer = @Sendable (UInt8, [UInt8]) -> [UInt8]?

    let port: UInt16
    private let listener: Int32
    private let answer: Answer

    var address: String { "127.0.0.1:\(port)" }

    init(_ makeAnswer: (String) -> Answer) {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                precondition(bind(listener, $0, size) == 0 && listen(listener, 16) == 0)
                getsockname(listener, $0, &size)
            }
        }
        self.listener = listener
        port = UInt16(bigEndian: address.sin_port)
        answer = makeAnswer("127.0.0.1:\(port)")
        Thread.detachNewThread { [listener, answer] in
            while true {
                let client = accept(listener, nil, nil)
                if client < 0 { return }
                Thread.detachNewThread { Self.serve(client, answer) }
            }
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    private static func serve(_ client: Int32, _ answer: Answer) {
        defer { close(client) }
        guard receive(client, 8) != nil else { return }
        while let header = receive(client, 8) {
            let words = header.prefix(4).enumerated().reduce(0) { $0 | Int($1.element) << (8 * $1.offset) }
            guard words < 1 << 20, let body = receive(client, words * 8), let bytes = answer(header[4], body) else { return }
            guard bytes.withUnsafeBytes({ send(client, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }) == bytes.count else {
                return
            }
        }
    }

    private static func receive(_ client: Int32, _ count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count), done = 0
        while done < count {
            let received = bytes.withUnsafeMutableBytes { recv(client, $0.baseAddress! + done, count - done, 0) }
            if received <= 0 { return nil }
            done += received
        }
        return bytes
    }

    // MARK: - Messages

    static func message(_ type: UInt8, _ body: [UInt8]) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: (body.count / 8) >> (8 * $0)) } + [type, 0, 0, 0] + body
    }

    /// Returns the answers of a node that leads an empty database, or `nil` for statements.
    static func usual(_ type: UInt8, _ body: [UInt8], _ address: String) -> [UInt8]? {
        let word = WireTests.word, text = WireTests.text
        switch type {
        case 0: return message(1, word(1) + text(address))
        case 1: return message(2, word(15_000))
        case 3: return message(4, word(0))
        case 16: return message(3, word(1) + word(1) + text(address) + word(0))
        default: return nil
        }
    }

    /// Returns the SQL text of a request that has one.
    static func sql(_ body: [UInt8]) -> String { String(decoding: body.dropFirst(8).prefix { $0 != 0 }, as: UTF8.self) }
}
