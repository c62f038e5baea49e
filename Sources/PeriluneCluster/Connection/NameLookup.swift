internal import PeriluneRecords
#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif
internal import Dispatch
internal import Foundation
internal import Synchronization

/// A lookup of a host's IPv4 address. It runs on a separate thread, because it cannot be cancelled and may take longer than the
/// script's time limit.
struct NameLookup: Sendable {
    /// Returns the address of a host and port, or `nil` if the lookup fails. Called on the separate thread.
    var find: @Sendable (_ host: String, _ port: UInt16) -> sockaddr_in? = { NameLookup.find($0, $1) }

    /// The interval at which the waiting thread checks whether the script must end.
    private static let slice = DispatchTimeInterval.milliseconds(20)

    private final class Answer: Sendable {
        let address = Mutex<sockaddr_in?>(nil)
        let isThere = DispatchSemaphore(value: 0)
    }

    /// - Throws: ``ConnectionFailure``.
    func address(of server: ServerAddress, until deadline: Deadline, _ isCancelled: () -> Bool) throws -> sockaddr_in {
        guard
            let found = try Self.find(server.host, server.port, isNumeric: true)
                ?? wait(for: server, until: deadline, isCancelled)
        else {
            throw ConnectionFailure.lost("the name \(server.host) has no IPv4 address")
        }
        return found
    }

    private func wait(for server: ServerAddress, until deadline: Deadline, _ isCancelled: () -> Bool) throws -> sockaddr_in? {
        let answer = Answer()
        Thread.detachNewThread { [find] in
            let found = find(server.host, server.port)
            answer.address.withLock { $0 = found }
            answer.isThere.signal()
        }
        while answer.isThere.wait(timeout: .now() + Self.slice) == .timedOut {
            if isCancelled() { throw ConnectionFailure.cancelled }
            if deadline.isOver { throw ConnectionFailure.deadline }
        }
        return answer.address.withLock { $0 }
    }

    /// - Parameter isNumeric: Whether the host must be a numeric address, which needs no lookup.
    private static func find(_ host: String, _ port: UInt16, isNumeric: Bool = false) -> sockaddr_in? {
        var hints = addrinfo()
        hints.ai_family = AF_INET
        hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
        hints.ai_flags = isNumeric ? AI_NUMERICHOST : 0
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, String(port), &hints, &list) == 0, let first = list else { return nil }
        defer { freeaddrinfo(list) }
        return first.pointee.ai_addr.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { $0.pointee }
    }
}
