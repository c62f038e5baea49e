import CPeriluneLua
import CPeriluneRecords
import PeriluneLua
import Testing

/// Assumptions about the layout of Lua tables in the code that writes records. If one does not hold for a build of Lua, writes
/// are only slower.
@Suite struct PrefetchTests {
    @Test(arguments: [1, 3, 40]) func `the fields of a Lua table are at the addresses that record writes prefetch into the cache`(
        count: Int
    )
        throws
    {
        let state = try LuaState()
        try state.core.prepare()
        let L = state.core.L
        lua_createtable(L, 0, CInt(count))
        for value in 1...count {
            lua_pushinteger(L, lua_Integer(value))
            lua_setfield(L, -2, "field\(value)")
        }
        // Each node of the hash part of a Lua table begins with its value. The number of nodes is a power of two; each has 24 bytes.
        let fields = UnsafeRawPointer(prec_fields_of(lua_topointer(L, -1))!)
        var capacity = 1
        while capacity < count { capacity *= 2 }
        let values = (0..<capacity).map { fields.load(fromByteOffset: $0 * 24, as: Int64.self) }
        #expect(Set(values).isSuperset(of: (1...count).map(Int64.init)))
        lua_settop(L, -2)
    }
}
