/// The address of a cluster node: its name in the cluster, and the host and port to connect to.
///
/// Its text form is `10.0.0.1:9001`, or `10.0.0.1:9001=127.0.0.1:19001` for a node behind a proxy, such as one that adds TLS.
package struct ServerAddress: Hashable, Sendable, CustomStringConvertible {
    /// The name that other nodes use for the node: host and port.
    package let name: String
    /// The host and port to connect to.
    package let host: String
    package let port: UInt16

    /// - Throws: ``ClusterFailure`` of kind `argument`.
    package init(_ text: String) throws {
        let parts = text.split(separator: "=", omittingEmptySubsequences: false).map(String.init)
        guard parts.count <= 2, let name = Self.parse(parts[0]), let dialled = Self.parse(parts[parts.count - 1]) else {
            throw ClusterFailure(
                .argument, "expected the address of a node as host:port, or host:port=host:port through a proxy, got \"\(text)\"")
        }
        self.name = "\(name.host):\(name.port)"
        (host, port) = dialled
    }

    package var description: String { name }

    private static func parse(_ text: String) -> (host: String, port: UInt16)? {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]), port > 0 else {
            return nil
        }
        let host = text[..<colon]
        guard !host.isEmpty, host.utf8.count <= 253, host.utf8.allSatisfy({ $0.isHostByte }) else { return nil }
        return (String(host), port)
    }
}

extension UInt8 {
    fileprivate var isHostByte: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: self == UInt8(ascii: ".") || self == UInt8(ascii: "-") || self == UInt8(ascii: "_")
        }
    }
}
