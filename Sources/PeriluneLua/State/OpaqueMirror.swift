// Test frameworks reflect errors and values, with all objects that these refer to, on any thread. Scripts change the contents of a state
// in the meantime, so reflection ends where they begin.

extension Mirror {
    /// A mirror without children, of an object whose contents belong to a thread or an actor.
    package init(opaque object: some AnyObject) {
        self.init(object, children: [:], displayStyle: .class)
    }
}

extension LuaReference: CustomReflectable {
    var customMirror: Mirror { Mirror(opaque: self) }
}

extension LuaCore: CustomReflectable {
    package var customMirror: Mirror { Mirror(opaque: self) }
}

extension LuaRun: CustomReflectable {
    package var customMirror: Mirror { Mirror(opaque: self) }
}

extension LuaState: CustomReflectable {
    /// A mirror without children: the contents of a state belong to its thread.
    public var customMirror: Mirror { Mirror(opaque: self) }
}

extension LuaThread: CustomReflectable {
    /// A mirror without children: the contents of a thread's queue belong to the thread.
    public var customMirror: Mirror { Mirror(opaque: self) }
}
