import Dispatch
import Foundation
import Synchronization
import Testing

@testable import PeriluneCluster
import PeriluneRecords

@Suite struct NameLookupTests {
    private func server(_ text: String) throws -> ServerAddress { try ServerAddress(text) }

    @Test func `an IP address is used directly, and a host name is looked up`() throws {
        let asked = Mutex<[String]>([])
        let lookup = NameLookup { host, port in
            asked.withLock { $0.append("\(host):\(port)") }
            return nil
        }
        let found = try lookup.address(of: server("127.0.0.1:9001"), until: Deadline(after: .seconds(60)), { false })
        #expect(found.sin_port == in_port_t(9001).bigEndian && found.sin_addr.s_addr == in_addr_t(0x7F00_0001).bigEndian)
        #expect(throws: (any Error).self) {
            try lookup.address(of: server("node:9002"), until: Deadline(after: .seconds(60)), { false })
        }
        #expect(asked.withLock { $0 } == ["node:9002"])
        #expect(
            try NameLookup().address(of: server("localhost:9001"), until: Deadline(after: .seconds(60)), { false }).sin_port
                == found.sin_port)
    }

    @Test func `a host name lookup without an answer ends at the deadline or with the script`() throws {
        let isOver = DispatchSemaphore(value: 0)
        defer { isOver.signal() }
        let lookup = NameLookup { _, _ in
            isOver.wait()
            isOver.signal()
            return nil
        }
        for (deadline, isCancelled) in [(Deadline(after: .milliseconds(1)), false), (Deadline(after: .seconds(600)), true)] {
            do {
                _ = try lookup.address(of: server("node:9001"), until: deadline, { isCancelled })
                Issue.record("an answer has come")
            } catch ConnectionFailure.deadline {
                #expect(!isCancelled)
            } catch ConnectionFailure.cancelled {
                #expect(isCancelled)
            }
        }
    }
}
