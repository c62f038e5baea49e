/// The userdata that stand for plain values, which the libraries for databases define: null, blobs and dates.
package struct LibraryValues {
    /// Returns the value of a userdata, or `nil` if it has none.
    let read: (LuaValue) -> ScriptValue?
    /// Makes the placeholder for NULL.
    let makeNull: (LuaState) throws(LuaError) -> LuaValue

    package init(read: @escaping (LuaValue) -> ScriptValue?, makeNull: @escaping (LuaState) throws(LuaError) -> LuaValue) {
        (self.read, self.makeNull) = (read, makeNull)
    }
}
