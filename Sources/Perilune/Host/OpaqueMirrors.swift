internal import PeriluneLua

// Opaque mirrors of the actors: test frameworks reflect the operands of a failed expectation on the test's thread. See
// `Mirror.init(opaque:)`.

extension ScriptHost: CustomReflectable {
    /// A mirror without children: the contents belong to the actor.
    public nonisolated var customMirror: Mirror { Mirror(opaque: self) }
}

extension ScriptPool: CustomReflectable {
    /// A mirror without children: the contents belong to the actor.
    public nonisolated var customMirror: Mirror { Mirror(opaque: self) }
}
