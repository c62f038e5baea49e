internal import CPeriluneRows
internal import GRDB
internal import PeriluneLua
internal import PeriluneRecords

/// The native functions of the Lua module `perilune.cluster`, which open cluster databases: `perilune.native.clusters`.
struct ClusterOpener {
    /// Whether scripts may connect to other machines.
    let isAllowed: Bool
    let isPreview: Bool

    func install(in loader: LibraryLoader) {
        loader.provide(native: "clusters") { [self] state in
            let table = try state.makeTable(fieldCount: 4)
            // (name, list of servers, seconds, options of perilune.queue or nil)
            try table.setFunction("open") { arguments in [try open(arguments)] }
            // (database) returns whether the database is in a cluster.
            try table.setFunction("is_cluster") { arguments in
                [.boolean(try DatabaseHandle(arguments, 1, for: "db").database.place.address != nil)]
            }
            // (database) returns the name of the leader, and a list of nodes.
            try table.setFunction("nodes") { arguments in
                let (handle, state) = (try DatabaseHandle(arguments, 1, for: "db:cluster_nodes"), try arguments.state)
                try Self.requireCluster(handle, "db:cluster_nodes")
                let nodes = try handle.database.onConnection(handle) { try handle.database.place.nodes() }
                let list = try state.makeTable(arrayCount: nodes.count)
                for (index, node) in nodes.enumerated() {
                    let fields = try state.makeTable(fieldCount: 4)
                    // The id is an unsigned 64-bit number, which may not fit into a Lua integer.
                    try fields.rawSet("id", .string(LuaString(String(node.id))))
                    try fields.rawSet("address", .string(LuaString(node.name)))
                    try fields.rawSet("role", .string(LuaString(node.role)))
                    try fields.rawSet("is_leader", .boolean(node.isLeader))
                    try list.rawSet(.integer(Int64(index + 1)), .table(fields))
                }
                return [.table(list)]
            }
            return table
        }
    }

    private static func requireCluster(_ handle: DatabaseHandle, _ function: String) throws {
        guard handle.database.place.address != nil else {
            throw BindingError(
                "usage",
                "\(function): this database is in a file or in memory; open one in a cluster by perilune.cluster(name, options)")
        }
    }

    private func open(_ arguments: LuaArguments) throws -> LuaValue {
        let state = try arguments.state
        guard isAllowed else {
            throw BindingError(
                "sandbox",
                "perilune.cluster: this script may not reach other machines; the host may give it a database in a cluster")
        }
        guard !isPreview else {
            throw BindingError(
                "preview", "perilune.cluster: a preview changes nothing outside of its copy, and cannot open a cluster")
        }
        let address = try ClusterAddress(servers: arguments.get(2), name: arguments.get(1))
        let options = try DatabaseOptions(arguments[4], for: "perilune.cluster", state: state)
        let queue = try DatabasePlaces.open(
            address, timeout: .seconds(arguments.get(3, as: Double.self)), configuration: options.configuration,
            isCancelled: { plua_is_run_cancelled() })
        let rights = ScriptDatabase.Rights(allowsFiles: false, allowsClosing: true)
        return try ScriptDatabase.makeValue(for: queue, rights: rights, in: state).value
    }
}

extension ScriptDatabase {
    /// Runs a closure with exclusive use of the cluster connection.
    fileprivate func onConnection<Result>(_ handle: DatabaseHandle, _ body: () throws -> Result) throws -> Result {
        try requireOpen()
        if handle.connection != nil { return try body() }
        return try entering { try writer.writeWithoutTransaction { _ in try body() } }
    }
}
