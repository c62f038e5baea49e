/// The address of a database in a cluster: `dqlite://h1:9001,h2:9001/shop`, optionally followed by `?timeout=5s`.
package struct ClusterAddress: Hashable, Sendable, CustomStringConvertible {
    package static let scheme = "dqlite://"

    /// The addresses of nodes, from which the leader and other nodes are discovered.
    package let servers: [ServerAddress]
    /// The name of the database.
    package let name: String
    /// The time limit for a statement, if the address specifies one.
    package let timeout: Duration?

    /// The default time limit for a statement.
    package static let usualTimeout = Duration.seconds(10)

    /// - Throws: ``ClusterFailure`` of kind `argument`.
    package init(servers: [String], name: String, timeout: Duration? = nil) throws {
        self.timeout = timeout
        guard !servers.isEmpty, servers.count <= 64 else {
            throw ClusterFailure(.argument, "expected the addresses of 1 to 64 nodes, got \(servers.count)")
        }
        guard !name.isEmpty, name.utf8.count <= 255, !name.contains("/"), !name.utf8.contains(0) else {
            throw ClusterFailure(
                .argument, "expected the name of a database in the cluster, of 1 to 255 bytes and without slashes")
        }
        self.servers = try servers.map { try ServerAddress($0) }
        self.name = name
    }

    /// Returns whether a text has the scheme of a cluster address.
    package static func isMeant(by text: String) -> Bool { text.hasPrefix(scheme) }

    /// - Parameter url: A text that begins with ``scheme``.
    /// - Throws: ``ClusterFailure`` of kind `argument`.
    package init(url: String) throws {
        let rest = url.dropFirst(Self.scheme.count)
        guard Self.isMeant(by: url), let slash = rest.firstIndex(of: "/") else {
            throw ClusterFailure(.argument, "expected dqlite://host:port,host:port/name, got \"\(url)\"")
        }
        let parts = rest[rest.index(after: slash)...].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let timeout = parts.count == 2 ? Self.timeout(String(parts[1])) : nil
        guard parts.count == 1 || timeout != nil else {
            throw ClusterFailure(
                .argument, "expected ?timeout=5s or ?timeout=500ms behind the name of the database, got \"?\(parts[1])\"")
        }
        try self.init(
            servers: rest[..<slash].split(separator: ",", omittingEmptySubsequences: false).map(String.init),
            name: String(parts[0]), timeout: timeout)
    }

    /// Parses `timeout=5s`.
    private static func timeout(_ option: String) -> Duration? {
        guard option.hasPrefix("timeout=") else { return nil }
        let text = String(option.dropFirst("timeout=".count)).replacing("%20", with: " ")
        guard let duration = DurationText.read(text), duration >= .milliseconds(1) else { return nil }
        return min(duration, .seconds(86_400))
    }

    /// Returns the address of the node with the given name: the address that the program specified, or else the name itself.
    package func server(named name: String) -> ServerAddress? { servers.first { $0.name == name } ?? (try? ServerAddress(name)) }

    package var description: String { Self.scheme + servers.map(\.name).joined(separator: ",") + "/" + name }
}
