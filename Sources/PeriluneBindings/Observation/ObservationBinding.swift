internal import CPeriluneRows
internal import GRDB
internal import PeriluneLua
internal import PeriluneRecords

/// The native functions of the Lua observation modules: `perilune.native.observation`.
struct ObservationBinding {
    private let loop: ScriptLoop
    private let observers: LuaUserdataType<ValueObserver>
    private let chain: DeliveryChain

    private init(loop: ScriptLoop, in state: LuaState) throws {
        self.loop = loop
        chain = DeliveryChain(of: state)
        observers = try state.makeUserdataType("value observation")
    }

    static func install(in loader: LibraryLoader, loop: ScriptLoop) {
        loader.provide(native: "observation") { state in
            try ObservationBinding(loop: loop, in: state).makeFunctions(in: state)
        }
    }

    private func makeFunctions(in state: LuaState) throws -> LuaTable {
        let table = try state.makeTable(fieldCount: 8)
        // (database or handle) returns an observer and the database object.
        try table.set(
            "start",
            .function(
                state.makeFunction("db:observe") { [observers, chain] arguments in
                    let observer = try observers.make(Self.start(arguments, chain))
                    return [.userdata(observer), try arguments.state.makeValue { L in pdb_push_database_object(L, 1) }]
                }))
        // (observer, function) calls the function and observes the regions that it reads; returns its results.
        try table.setFunction("read") { [observers] arguments in
            try observers.value(of: arguments[1]).read(arguments.get(2), in: arguments.state)
        }
        try defineDelivery(in: table)
        try defineChain(in: table)
        let notifications = NotificationSource()
        let foreignWrites = ForeignWrites(loop: loop)
        // () schedules the delivery of observers' notifications; returns whether a function to deliver them is set.
        try table.setFunction("signal_notifications") { [notifications] _ in
            notifications.source?.signal()
            return [.boolean(notifications.source != nil)]
        }
        // (function) sets the function that delivers notifications about other users' transactions to observers.
        try table.setFunction("open_notifications") { [loop, notifications] arguments in
            let source = try loop.addSource("observer", keepsAlive: false, scope: 0, .calling(arguments.get(1)))
            notifications.source = source
            try ObserverNotifier(source.signaller).install(in: arguments.state)
            return []
        }
        // (handle, names of tables) notifies all observers, including those in Swift, that the tables may have changed.
        try table.set(
            "notify",
            .function(
                state.makeFunction("db:notify_changes") { arguments in
                    let names = try [String].fromLua(arguments[2])
                    guard let db = DatabaseHandle(arguments[1], in: try arguments.state)?.connection else { return [] }
                    // `Table(name)` is not usable, because GRDB does not escape quotes in names.
                    for name in names { try db.notifyChanges(in: SQLRequest<Row>(sql: "SELECT * FROM \(name.quotedName)")) }
                    return []
                }))
        // (observer, database, seconds) polls for writes by other processes at the given interval.
        try table.setFunction("poll") { [foreignWrites, observers] arguments in
            guard let handle = DatabaseHandle(arguments[2], in: try arguments.state), case .number(let seconds) = arguments[3]
            else { return [] }
            try foreignWrites.look(at: handle.database, every: seconds, for: observers.value(of: arguments[1]))
            return []
        }
        // (observer, seconds) pauses the observer for the given time, then signals that the value may have changed.
        try table.setFunction("pause") { [loop, observers] arguments in
            try observers.value(of: arguments[1]).pause(seconds: arguments.get(2), loop.timers)
            return []
        }
        // (observer) suppresses signals until `resume` is called.
        try table.setFunction("suspend") { [observers] arguments in
            try observers.value(of: arguments[1]).suspend(true)
            return []
        }
        try table.setFunction("resume") { [observers] arguments in
            try observers.value(of: arguments[1]).suspend(false)
            return []
        }
        // (observer) signals that the value may have changed.
        try table.setFunction("signal") { [observers] arguments in
            try observers.value(of: arguments[1]).signal()
            return []
        }
        // (observer) returns whether the observer was signaled since the last call.
        try table.setFunction("take_signal") { [observers] arguments in
            [.boolean(try observers.value(of: arguments[1]).takeSignal())]
        }
        // (observer) returns whether rows may have changed since the last call; false if only the schema has changed.
        try table.setFunction("take_row_changes") { [observers] arguments in
            [.boolean(try observers.value(of: arguments[1]).takeRowChanges())]
        }
        // (name) returns whether a table is one of Perilune's internal tables.
        try table.setFunction("is_own_table") { arguments in
            [.boolean(OwnTables.contain(try arguments.get(1)))]
        }
        try table.setFunction("stop") { [observers] arguments in
            try observers.value(of: arguments[1]).end()
            return []
        }
        try table.setFunction("is_active") { [observers] arguments in
            [.boolean(try !observers.value(of: arguments[1]).isEnded)]
        }
        return table
    }

    private func defineDelivery(in table: LuaTable) throws {
        // (observer, function, error handler or nil, whether the script waits for the source, whether the first value is known)
        // calls the function after changes; returns the number of the source.
        try table.setFunction("push") { [loop, observers] arguments in
            let observer = try observers.value(of: arguments[1])
            let function: LuaFunction = try arguments.get(2)
            let keepsAlive: Bool = try arguments.get(4)
            let source = try loop.addSource("observation", keepsAlive: keepsAlive, .calling(function))
            if !arguments[3].isNil { source.onError = try arguments.get(3, as: LuaFunction.self) }
            source.onEnd = { [weak observer] in observer?.end() }
            observer.onEnd = { [weak source] in source.map(loop.end) }
            if case .boolean(true) = arguments[5] {
                observer.listen(knowsFirst: true, source.signaller)
            } else {
                observer.listen(source.signaller)
            }
            return [.integer(Int64(source.id))]
        }
        // (observer) returns the number of the place where a script can wait for changes.
        try table.setFunction("pull") { [loop, observers] arguments in
            let observer = try observers.value(of: arguments[1])
            let parking = loop.parking
            let place = parking.makePlace()
            let source = try loop.addSource("observation", keepsAlive: false, .nothing)
            source.onEnd = { [weak observer] in observer?.end() }
            observer.listen { parking.release(place) }
            observer.onEnd = { [weak source] in
                // Resume the waiters, which must notice the end.
                parking.release(place)
                parking.forget(place)
                source.map(loop.end)
            }
            return [.integer(Int64(place.number))]
        }
    }

    private func defineChain(in table: LuaTable) throws {
        // (observer) returns how many deliveries, each caused by the previous one, led to the signals since the last call.
        try table.setFunction("take_chain") { [observers] arguments in
            [.integer(Int64(try observers.value(of: arguments[1]).takeChain()))]
        }
        // (number) sets the position of the current delivery in its chain; 0 means no delivery.
        try table.setFunction("set_chain") { [chain] arguments in
            chain.current = try arguments.get(1)
            return []
        }
    }

    // MARK: - Starting

    /// Creates an observer of the database in the first argument.
    private static func start(_ arguments: LuaArguments, _ chain: DeliveryChain) throws -> ValueObserver {
        let state = try arguments.state
        guard let handle = DatabaseHandle(arguments[1], in: state) else {
            throw BindingError("argument", "db:observe: expected an open database, got \(arguments[1].shortDescription)")
        }
        try handle.database.requireOpen()
        try handle.database.refuseInCluster(
            "a database in a cluster cannot be observed, because other clients change it too; fetch again and again: perilune.every(seconds, f)"
        )
        defer { try? state.withUnsafeStack { L, _ in pdb_observe(L) } }
        let observer = try start(on: handle, chain)
        handle.database.add(observer)
        return observer
    }

    private static func start(on handle: DatabaseHandle, _ chain: DeliveryChain) throws -> ValueObserver {
        let database = handle.database
        guard let db = handle.connection else {
            return try database.entering {
                try database.writer.writeWithoutTransaction { db in
                    try db.requireOpen()
                    database.removeRetired(from: db)
                    return ValueObserver(on: db, chain: chain)
                }
            }
        }
        guard !db.configuration.readonly || database.writer.configuration.readonly else {
            throw BindingError(
                "nested_access", "db:observe: cannot be called inside db:read of a pool, whose connection is read-only")
        }
        return ValueObserver(on: db, chain: chain)
    }
}
