/// The conversions for userdata that represent plain values: null, blobs and dates. Database libraries define them.
package struct LibraryValues {
    /// Returns the value of a userdata, or `nil` if it has none.
    let read: (LuaValue) -> ScriptValue?
    /// Makes the placeholder for NULL.
    let makeNull: (LuaState) throws(LuaError) -> LuaValue

    package init(read: @escaping (LuaValue) -> ScriptValue?, makeNull: @escaping (LuaState) throws(LuaError) -> LuaValue) {
        (self.read, self.makeNull) = (read, makeNull)
    }
}
