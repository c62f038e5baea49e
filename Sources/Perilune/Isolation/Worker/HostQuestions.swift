internal import PeriluneIsolation
internal import PeriluneLua
internal import Synchronization

/// A thread-safe client in the script process that sends questions to the host: function calls, modules, the current time.
final class HostQuestions: Sendable {
    private typealias Answer = Result<[WireValue], any Error>

    /// A question whose answer may arrive after the asking thread has stopped waiting for it.
    private enum Wait {
        /// The task does not wait yet.
        case expected
        case suspended(CheckedContinuation<Answer, Never>)
        /// The answer arrived before the task waited.
        case answered(Answer)
    }

    /// The number of the request that the current task executes.
    @TaskLocal static var servedRequest: UInt32 = 0

    let channel: FrameChannel
    /// The channel for answers to blocked threads. A waiting thread holds the mutex, so the next answer belongs to its question.
    private let answers: Mutex<FrameChannel>
    private let state = Mutex((count: UInt32(0), waits: [UInt32: Wait]()))

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
            try send(message, nextNumber(), values)
            return try? answers.receive()
        }
        guard let answer else { throw Self.closed }
        return try Self.values(of: answer)
    }

    /// Asks the host to call an asynchronous function. Blocks the thread until the function has ended or is known to wait, and only then
    /// suspends the task: a function that ends at once would otherwise cost two more switches of threads. If the task is cancelled, notifies
    /// the host.
    func call(_ values: [WireValue], in request: UInt32) async throws -> [WireValue] {
        let number = nextNumber(isExpected: true)
        let first: Frame?
        do {
            first = try answers.withLock { answers in
                try send(.callFunction, number, values, in: request)
                return try? answers.receive()
            }
        } catch {
            forget(number)
            throw error
        }
        guard let first else { throw Self.closed }
        guard first.kind == HostMessage.answerLater.rawValue else {
            forget(number)
            return try Self.values(of: first)
        }
        return try await withTaskCancellationHandler {
            await answer(to: number)
        } onCancel: {
            abandon(number)
        }.get()
    }

    /// Waits for the answer to a question that the host answers later.
    private func answer(to number: UInt32) async -> Answer {
        await withCheckedContinuation { continuation in
            let known: Answer? = state.withLock { state in
                guard case .answered(let answer) = state.waits.removeValue(forKey: number) else {
                    state.waits[number] = .suspended(continuation)
                    return nil
                }
                return answer
            }
            if let known { continuation.resume(returning: known) }
        }
    }

    /// Notifies the host that the answer to a question is no longer needed.
    private func abandon(_ number: UInt32) {
        try? channel.send(Frame(.abandon, number))
    }

    /// Returns the number of a new question.
    ///
    /// - Parameter isExpected: Whether the answer is kept if it arrives before a task waits for it.
    private func nextNumber(isExpected: Bool = false) -> UInt32 {
        state.withLock { state in
            repeat { state.count &+= 1 } while state.count == 0 || state.waits[state.count] != nil
            if isExpected { state.waits[state.count] = .expected }
            return state.count
        }
    }

    private func forget(_ number: UInt32) {
        _ = state.withLock { $0.waits.removeValue(forKey: number) }
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
        let answer = Result { try Self.values(of: frame) }
        let waiter = state.withLock { state -> CheckedContinuation<Answer, Never>? in
            switch state.waits[frame.request] {
            case .suspended(let continuation):
                state.waits[frame.request] = nil
                return continuation
            case .expected: state.waits[frame.request] = .answered(answer)
            case .answered, nil: break
            }
            return nil
        }
        waiter?.resume(returning: answer)
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

}
