/// The conversions for userdata that represent plain values: null, blobs and dates. Database libraries define them.
package struct LibraryValues {
    /// A function that returns the value of a userdata, or `nil` if the userdata has none.
    let read: (LuaValue) -> ScriptValue?
    /// A function that creates the placeholder for NULL.
    let makeNull: (LuaState) throws(LuaError) -> LuaValue

    package init(read: @escaping (LuaValue) -> ScriptValue?, makeNull: @escaping (LuaState) throws(LuaError) -> LuaValue) {
        (self.read, self.makeNull) = (read, makeNull)
    }
}
