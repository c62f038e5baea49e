internal import CPeriluneRows
internal import GRDB
internal import PeriluneLua
internal import Synchronization

/// A recorder of the database regions that scripts read.
enum RegionRecorder {
    /// The regions read so far, by state, for the states that are being recorded.
    private static let regions = Mutex<[LuaStateIdentity: DatabaseRegion]>([:])

    /// Runs a closure, and returns its result or error together with the region that it read.
    static func recording<Success>(
        in state: LuaState, _ body: () throws -> Success
    ) -> (result: Result<Success, any Error>, region: DatabaseRegion) {
        let key = state.identity
        let outer = regions.withLock { $0.updateValue(DatabaseRegion(), forKey: key) }
        setRecording(true, in: state)
        let result = Result { try body() }
        setRecording(outer != nil, in: state)
        let region = regions.withLock { regions in
            let region = regions[key] ?? DatabaseRegion()
            regions[key] = outer?.union(region)
            return region
        }
        return (result, region)
    }

    private static func setRecording(_ isRecording: Bool, in state: LuaState) {
        // A closed state throws, but it has nothing to record, so the error is ignored.
        try? state.withUnsafeStack { L, _ in pdb_set_recording(L, isRecording) }
    }

    /// Adds a statement's region to the recording of its state, if the state is being recorded.
    static func add(_ region: DatabaseRegion, in L: OpaquePointer) {
        let key = LuaStateIdentity(of: L)
        regions.withLock { regions in
            if let known = regions[key] { regions[key] = known.union(region) }
        }
    }
}
