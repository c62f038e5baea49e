internal import Foundation
internal import PeriluneLua

/// A temporary thread with a large stack, because Lua's parser is recursive.
enum LargeStack {
    static func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let thread = Thread { continuation.resume(with: Result { try body() }) }
            thread.stackSize = LuaThread.defaultStackSizeInBytes
            thread.start()
        }
    }
}
