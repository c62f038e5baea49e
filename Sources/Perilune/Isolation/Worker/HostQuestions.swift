internal import PeriluneIsolation
internal import PeriluneLua
internal import Synchronization

/// A thread-safe client in the script process that sends questions to the host: function calls, modules, the current time.
final class HostQuestions: Sendable {
    private typealias Waiter = CheckedContinuation<Result<[WireValue], any Error>, Never>

    /// The number of the request that the current task executes.
    @TaskLocal static var servedRequest: UInt32 = 0

    let channel: FrameChannel
    /// The channel for answers to blocked threads. A waiting thread holds the mutex, so the next answer belongs to its question.
    private let answers: Mutex<FrameChannel>
    private let state = Mutex((count: UInt32(0), waiters: [UInt32: Waiter]()))

    init(channel: FrameChannel, answers: FrameChannel) {
        self.channel = channel
        self.answers = Mutex(answers)
    }

    /// Sends a message that needs no answer. Ignores errors, because the reading thread ends the process when the connection closes.
    func tell(_ message: WorkerMessage, _ values: [WireValue]) {
        try? channel.send(Frame(message, 0, values))
    }

    /// Sends a question and blocks the thread until the host answers.
    func ask(_ message: WorkerMessage, _ values: [WireValue]) throws -> [WireValue] {
        let answer = try answers.withLock { answers in
            try send(message, add(nil), values)
            return try? answers.receive()
        }
        guard let answer else { throw Self.closed }
        return try Self.values(of: answer)
    }

    /// Sends a question and suspends the task until the host answers. If the task is cancelled, notifies the host.
    func ask(_ message: WorkerMessage, _ values: [WireValue], in request: UInt32) async throws -> [WireValue] {
        let number = Mutex<UInt32?>(nil)
        let result: Result<[WireValue], any Error> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let own = add(continuation)
                do {
                    try send(message, own, values, in: request)
                } catch {
                    settle(own, .failure(error))
                }
                number.withLock { $0 = own }
                // If the task was cancelled before the number was set, the question is abandoned here.
                if Task.isCancelled { abandon(own) }
            }
        } onCancel: {
            if let number = number.withLock({ $0 }) { abandon(number) }
        }
        return try result.get()
    }

    /// Notifies the host that the answer to a question is no longer needed.
    private func abandon(_ number: UInt32) {
        try? channel.send(Frame(.abandon, number))
    }

    /// Returns the number of a new question, and registers its waiting task, if there is one.
    private func add(_ waiter: Waiter?) -> UInt32 {
        state.withLock { state in
            repeat { state.count &+= 1 } while state.count == 0 || state.waiters[state.count] != nil
            state.waiters[state.count] = waiter
            return state.count
        }
    }

    private func send(
        _ message: WorkerMessage, _ number: UInt32, _ values: [WireValue], in request: UInt32 = HostQuestions.servedRequest
    ) throws {
        do throws(FrameChannel.SendingError) {
            try channel.send(Frame(message, number, [.integer(Int64(request))] + values))
        } catch {
            switch error {
            case .refused(let reason):
                throw LuaError(.conversion, "the arguments are too large to leave the process of the script: \(reason)")
            case .closed: throw Self.closed
            }
        }
    }

    private static var closed: LuaError { LuaError(.cancelled, "the host of the script has ended") }

    /// Passes an answer to its waiting task.
    func take(_ frame: Frame) {
        settle(frame.request, Result { try Self.values(of: frame) })
    }

    private static func values(of answer: Frame) throws -> [WireValue] {
        guard answer.values.first?.booleanValue == true else { throw error(of: answer) }
        return Array(answer.values.dropFirst())
    }

    private static func error(of frame: Frame) -> any Error {
        let error = LuaError(frame.values.count > 1 ? frame.values[1] : .nil)
        guard frame.values.count > 2, let number = frame.values[2].integerValue else { return error }
        var fields = error.fields
        let kind = error.kind?.rawValue ?? error.code.description
        fields["kind"] = nil
        fields["message"] = nil
        return HostFunctionError(luaKind: kind, luaMessage: error.message, luaFields: fields, number: number)
    }

    private func settle(_ number: UInt32, _ result: Result<[WireValue], any Error>) {
        state.withLock { $0.waiters.removeValue(forKey: number) }?.resume(returning: result)
    }
}
