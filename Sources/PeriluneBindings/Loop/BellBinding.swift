internal import PeriluneLua
internal import Synchronization

/// `perilune.native.bells`: signals that wake the workers of a database's job queue in all states of this process.
enum BellBinding {
    /// The registered listeners, by the name of the bell and the number of the listener.
    private static let listeners = Mutex<(last: Int, bells: [String: [Int: @Sendable () -> Void]])>((0, [:]))

    static func makeFunctions(in state: LuaState, loop: ScriptLoop) throws -> LuaTable {
        let table = try state.makeTable(fieldCount: 3)
        // (name of the state) returns the name of the bell for an in-memory database.
        try table.setFunction("memory") { [loop] arguments in
            let name: String = try arguments.get(1)
            return [.string(LuaString("memory \(loop.memoryName ?? name)"))]
        }
        // (name, function, whether the script waits for the source) returns the number of a source that calls the function after
        // each ring.
        try table.setFunction("listen") { [loop] arguments in
            let name: String = try arguments.get(1)
            let function: LuaFunction = try arguments.get(2)
            let source = try loop.addSource("bell", keepsAlive: try arguments.get(3), .calling(function))
            let signal = source.signaller
            let number = listeners.withLock { listeners in
                listeners.last += 1
                listeners.bells[name, default: [:]][listeners.last] = signal
                return listeners.last
            }
            source.onEnd = {
                listeners.withLock { listeners in
                    listeners.bells[name]?[number] = nil
                    // Remove unused bells, because each in-memory database adds one.
                    if listeners.bells[name]?.isEmpty == true { listeners.bells[name] = nil }
                }
            }
            return [.integer(Int64(source.id))]
        }
        try table.setFunction("ring") { arguments in
            let name: String = try arguments.get(1)
            let signals = listeners.withLock { Array(($0.bells[name] ?? [:]).values) }
            for signal in signals { signal() }
            return []
        }
        return table
    }
}
