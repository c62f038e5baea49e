internal import Synchronization
public import Perilune

/// A recorder of the calls that scripts make to fake functions of a host.
///
/// ```swift
/// let mail = CallRecorder()
/// let host = try await ScriptHost.forTest(migrations: schema)
/// try await host.register(module: "mail") {
///     $0.record("count", in: mail, returning: 3)
/// }
/// let count: Int = try await host.run(
///     source: "return require('mail').count('inbox')")
/// #expect(count == 3)
/// #expect(mail.calls.first?.description == "count(\"inbox\")")
/// ```
public final class CallRecorder: Sendable {
    /// A recorded call.
    public struct Call: Sendable, Equatable, CustomStringConvertible {
        /// The name of the function.
        public let function: String
        /// The arguments.
        public let arguments: [ScriptValue]

        public var description: String { "\(function)(\(arguments.map(\.description).joined(separator: ", ")))" }
    }

    private let list = Mutex<[Call]>([])

    /// Creates a recorder without calls.
    public init() {}

    /// The recorded calls, in order.
    public var calls: [Call] { list.withLock { $0 } }

    func add(_ call: Call) { list.withLock { $0.append(call) } }
}

extension ScriptModule {
    /// Adds a fake function, which records its calls and returns nothing.
    public func record(_ name: String, in recorder: CallRecorder) {
        record(name, in: recorder, returning: ScriptValue.nil)
    }

    /// Adds a fake function, which records its calls and always returns the same value.
    public func record<Result: Encodable & Sendable>(
        _ name: String, in recorder: CallRecorder, returning result: Result
    ) {
        function(variadic: name) { (arguments: [ScriptValue]) -> Result in
            recorder.add(CallRecorder.Call(function: name, arguments: arguments))
            return result
        }
    }

    /// Adds a fake function, which records its calls and always fails with the same error.
    public func record(_ name: String, in recorder: CallRecorder, throwing error: any Error) {
        function(variadic: name) { (arguments: [ScriptValue]) throws in
            recorder.add(CallRecorder.Call(function: name, arguments: arguments))
            throw error
        }
    }
}
