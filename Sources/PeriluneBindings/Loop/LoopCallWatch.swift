package import PeriluneLua

/// A watch on the call of a source, with a meter and a closure that receives the outcome.
package struct LoopCallWatch {
    package let meter: LuaMeter
    /// Called on the state's thread when the call ends, with its error or `nil`.
    package let didEnd: ((any Error)?) -> Void

    package init(meter: LuaMeter, didEnd: @escaping ((any Error)?) -> Void) {
        self.meter = meter
        self.didEnd = didEnd
    }
}
