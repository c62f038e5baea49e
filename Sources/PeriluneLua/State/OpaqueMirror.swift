// Mirrors that hide the contents of states. Test frameworks reflect errors and values recursively, on any thread, while scripts may
// be changing the state. Reflection must therefore stop at these objects.

extension Mirror {
    /// Creates a mirror without children for an object whose contents belong to a thread or an actor.
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
    /// A mirror without children, because the contents of a state belong to its thread.
    public var customMirror: Mirror { Mirror(opaque: self) }
}

extension LuaThread: CustomReflectable {
    /// A mirror without children, because the contents of the queue belong to the thread.
    public var customMirror: Mirror { Mirror(opaque: self) }
}
