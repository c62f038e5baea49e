internal import CPeriluneCluster
internal import PeriluneRecords

/// A connection to a single node. Responses arrive in the order of the requests.
final class NodeConnection {
    let address: ServerAddress
    private let socket: NodeSocket
    /// The pending messages, and their number.
    private var output = pcl_buffer()
    private var messages = 0

    /// Connects to a node and sends the protocol version.
    ///
    /// - Throws: ``ConnectionFailure``.
    init(_ address: ServerAddress, until deadline: Deadline, isCancelled: @escaping () -> Bool) throws {
        self.address = address
        socket = try NodeSocket(address, until: deadline, isCancelled: isCancelled)
        pcl_put_u64(&output, 1)
        do { try flush(until: deadline) } catch {
            pcl_free_buffer(&output)
            throw error
        }
    }

    deinit { pcl_free_buffer(&output) }

    func close() { socket.close() }

    // MARK: - Requests

    /// Appends a message to the pending messages.
    ///
    /// - Throws: Errors of the closure; ``ClusterFailure`` if the message is longer than nodes accept.
    func put(_ type: RequestType, _ body: (inout pcl_buffer) throws -> Void) throws {
        messages += 1
        pcl_begin_message(&output, type.rawValue)
        do { try body(&output) } catch {
            output.length = output.message
            output.has_failed = false
            throw error
        }
        guard pcl_end_message(&output) else {
            throw ClusterFailure(
                .refused,
                "a statement and its values may have \(mostMessageBytes) bytes at most in a cluster; write the value in parts")
        }
    }

    /// Sends the pending messages.
    ///
    /// - Throws: ``ConnectionFailure``.
    func flush(until deadline: Deadline) throws {
        defer {
            (output.length, messages) = (0, 0)
            // Long messages are rare, so free a large buffer.
            if output.capacity > 1 << 20 { pcl_free_buffer(&output) }
        }
        socket.awaitsSeveral = messages > 1
        if messages > 1 { socket.acknowledgeAtOnce() }
        try socket.send(UnsafeRawBufferPointer(start: output.bytes, count: output.length), until: deadline)
    }

    // MARK: - Answers

    /// Receives the next message, which must have the given type or be a failure.
    ///
    /// - Parameter most: The maximum accepted size in bytes.
    /// - Throws: ``RemoteError`` if the response is a failure; ``ConnectionFailure``.
    func answer(_ type: ResponseType, most: Int = mostMessageBytes, until deadline: Deadline) throws -> MessageBody {
        let (found, body) = try receive(most, until: deadline)
        if found == ResponseType.failure.rawValue {
            throw try body.readFailure()
        }
        guard found == type.rawValue else {
            throw ConnectionFailure.lost("the node has sent a message of the type \(found), expected \(type.rawValue)")
        }
        return body
    }

    private func receive(_ most: Int, until deadline: Deadline) throws -> (UInt8, MessageBody) {
        var header: UInt64 = 0
        try withUnsafeMutableBytes(of: &header) { try socket.receive($0, until: deadline) }
        var length = 0, type: UInt8 = 0
        let isGood = withUnsafeBytes(of: &header) {
            pcl_read_header($0.baseAddress!.assumingMemoryBound(to: UInt8.self), most, &length, &type)
        }
        guard isGood else {
            if length > most, type == ResponseType.rows.rawValue { throw ConnectionFailure.refused(RowPages.tooLong) }
            throw ConnectionFailure.lost("the node has sent a message that is too long, or of another version")
        }
        let body = MessageBody(length: length)
        if length > 0 { try socket.receive(UnsafeMutableRawBufferPointer(rebasing: body.bytes[..<length]), until: deadline) }
        return (type, body)
    }

    // MARK: - Which node leads

    /// Asks the node which node leads.
    ///
    /// - Returns: The leader's address, or `nil` if the node does not know the leader.
    func askForLeader(until deadline: Deadline) throws -> String? {
        try put(.leader) { pcl_put_u64(&$0, 0) }
        try flush(until: deadline)
        return try readLeader(until: deadline)
    }

    private func readLeader(until deadline: Deadline) throws -> String? {
        let body = try answer(.server, until: deadline)
        _ = try body.readU64()
        let address = try body.readText()
        return address.isEmpty ? nil : address
    }

    /// Opens a database if the node is the leader.
    ///
    /// - Returns: Whether the database is open, or the leader that the node names.
    func open(_ name: String, client: UInt64, until deadline: Deadline) throws -> Opening {
        try put(.leader) { pcl_put_u64(&$0, 0) }
        try put(.client) { pcl_put_u64(&$0, client) }
        try put(.open) {
            $0.put(name)
            pcl_put_u64(&$0, 0)
            $0.put("")
        }
        try flush(until: deadline)
        let leader = try readLeader(until: deadline)
        _ = try answer(.welcome, until: deadline)
        guard leader == address.name else { return .elsewhere(leader) }
        _ = try answer(.database, until: deadline).readU32()
        return .opened
    }

    enum Opening {
        case opened
        /// The node is not the leader. The value is the leader's address, or `nil` if the node does not know it.
        case elsewhere(String?)
    }

    /// Returns the nodes of the cluster with their ids, addresses and roles (0 voter, 1 standby, 2 spare).
    func servers(until deadline: Deadline) throws -> [(id: UInt64, name: String, role: UInt64)] {
        try put(.cluster) { pcl_put_u64(&$0, 1) }
        try flush(until: deadline)
        let body = try answer(.servers, until: deadline)
        let count = try body.readU64()
        guard count <= 1024 else { throw ConnectionFailure.lost("the node has sent a list of \(count) nodes") }
        return try (0..<count).map { _ in (try body.readU64(), try body.readText(), try body.readU64()) }
    }

    /// Asks the leader to transfer leadership to another node. It may close the connection instead of answering.
    func giveLead(to id: UInt64, until deadline: Deadline) throws {
        try put(.transfer) { pcl_put_u64(&$0, id) }
        try flush(until: deadline)
        _ = try answer(.empty, until: deadline)
    }
}

/// The maximum length of messages in both directions, unless a longer response is expected.
let mostMessageBytes = 64 << 20

extension pcl_buffer {
    /// Writes a text up to its first NUL byte, where SQLite also ends SQL text.
    mutating func put(_ text: String) {
        var text = text
        text.withUTF8 { bytes in
            let length = bytes.firstIndex(of: 0) ?? bytes.count
            bytes.withMemoryRebound(to: CChar.self) {
                pcl_put_text(&self, $0.baseAddress ?? UnsafePointer(bitPattern: 1)!, length)
            }
        }
    }
}
