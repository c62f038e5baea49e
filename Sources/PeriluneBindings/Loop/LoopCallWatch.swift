package import PeriluneLua

/// A watch that measures a call of a source and receives its outcome.
package struct LoopCallWatch {
    package let meter: LuaMeter
    /// Called on the thread of the state, with the error that ended the call.
    package let didEnd: ((any Error)?) -> Void

    package init(meter: LuaMeter, didEnd: @escaping ((any Error)?) -> Void) {
        self.meter = meter
        self.didEnd = didEnd
    }
}
