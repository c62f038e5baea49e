/// The conversions for userdata that represent plain values (null, blobs and dates), which the database libraries define.
package struct LibraryValues {
    /// Returns the plain value of a userdata, or `nil` for any other userdata.
    let read: (LuaValue) -> ScriptValue?
    /// Creates the Lua value for NULL.
    let makeNull: (LuaState) throws(LuaError) -> LuaValue

    package init(read: @escaping (LuaValue) -> ScriptValue?, makeNull: @escaping (LuaState) throws(LuaError) -> LuaValue) {
        (self.read, self.makeNull) = (read, makeNull)
    }
}
