import Synchronization
import Testing

@testable import PeriluneCLI

@Suite struct ProgressLineTests {
    @Test func `a progress line shows its percentage and the remaining time, and is erased`() throws {
        let written = Mutex("")
        let line = try #require(
            ProgressLine(isTerminal: true, columns: { 60 }, delay: .zero) { text in written.withLock { $0 += text } })
        line.show("copying x.sqlite", part: 0.5, "3 rows")
        line.erase()
        let text = written.withLock { $0 }
        #expect(
            text.hasPrefix("\r\u{1B}[Kcopying x.sqlite · 50 % · 3 rows · about ") && text.hasSuffix(" left\r\u{1B}[K"), "\(text)")
    }

    @Test func `a progress line fits the terminal and is not drawn too often`() throws {
        let written = Mutex<[String]>([])
        let line = try #require(
            ProgressLine(isTerminal: true, columns: { 10 }, delay: .zero) { text in written.withLock { $0.append(text) } })
        for number in 0..<50 { line.show("number \(number) of fifty") }
        #expect(written.withLock { $0 } == ["\r\u{1B}[Knumber 0 "])
    }

    @Test func `nothing is drawn before the delay or without a terminal`() throws {
        let written = Mutex("")
        let line = try #require(
            ProgressLine(isTerminal: true, columns: { 60 }, delay: .seconds(600)) { text in written.withLock { $0 += text } })
        line.show("early", part: 0.5)
        line.erase()
        #expect(written.withLock { $0 } == "")
        #expect(ProgressLine(isTerminal: false) == nil)
    }
}
