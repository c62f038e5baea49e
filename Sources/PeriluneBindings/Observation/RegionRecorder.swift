internal import CPeriluneRows
internal import GRDB
internal import PeriluneLua
internal import Synchronization

/// Collects which parts of databases a script reads.
enum RegionRecorder {
    /// Of the states that are recorded now, by the addresses of their contexts.
    private static let regions = Mutex<[UInt: DatabaseRegion]>([:])

    /// Runs a closure, and returns what it has read, also if it throws.
    static func recording<Success>(
        in core: LuaCore, _ body: () throws -> Success
    ) -> (result: Result<Success, any Error>, region: DatabaseRegion) {
        let key = UInt(bitPattern: plua_context_of(core.L))
        let outer = regions.withLock { $0.updateValue(DatabaseRegion(), forKey: key) }
        pdb_set_recording(core.L, true)
        let result = Result { try body() }
        pdb_set_recording(core.L, outer != nil)
        let region = regions.withLock { regions in
            let region = regions[key] ?? DatabaseRegion()
            regions[key] = outer?.union(region)
            return region
        }
        return (result, region)
    }

    /// Adds what a statement reads, if its state is recorded.
    static func add(_ region: DatabaseRegion, in L: OpaquePointer) {
        let key = UInt(bitPattern: plua_context_of(L))
        regions.withLock { regions in
            if let known = regions[key] { regions[key] = known.union(region) }
        }
    }
}
