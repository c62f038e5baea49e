internal import Dispatch
internal import PeriluneIsolation
internal import PeriluneLua
internal import Synchronization

/// What the process of scripts asks its host: to call a function, for a module, for the time. From any thread.
final class HostQuestions: Sendable {
    private enum Waiter {
        case blocked(Answer)
        case suspended(CheckedContinuation<Result<[WireValue], any Error>, Never>)
    }

    /// What a thread waits for.
    private final class Answer: Sendable {
        let semaphore = DispatchSemaphore(value: 0)
        let result = Mutex<Result<[WireValue], any Error>?>(nil)
    }

    /// The number of the request that the current task serves.
    @TaskLocal static var servedRequest: UInt32 = 0

    let channel: FrameChannel
    private let state = Mutex((count: UInt32(0), waiters: [UInt32: Waiter]()))

    init(channel: FrameChannel) {
        self.channel = channel
    }

    /// Sends what needs no answer. The end of the connection ends the process elsewhere.
    func tell(_ message: WorkerMessage, _ values: [WireValue]) {
        try? channel.send(Frame(message, 0, values))
    }

    /// Asks, and blocks the thread until the host has answered.
    func ask(_ message: WorkerMessage, _ values: [WireValue]) throws -> [WireValue] {
        let answer = Answer()
        let number = add(.blocked(answer))
        do {
            try send(message, number, values)
        } catch {
            _ = state.withLock { $0.waiters.removeValue(forKey: number) }
            throw error
        }
        answer.semaphore.wait()
        return try answer.result.withLock { $0! }.get()
    }

    /// Asks, and suspends the task until the host has answered. If it is cancelled the host hears of it.
    func ask(_ message: WorkerMessage, _ values: [WireValue], in request: UInt32) async throws -> [WireValue] {
        let number = Mutex<UInt32?>(nil)
        let result: Result<[WireValue], any Error> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let own = add(.suspended(continuation))
                number.withLock { $0 = own }
                do {
                    try send(message, own, values, in: request)
                } catch {
                    settle(own, .failure(error))
                }
            }
        } onCancel: {
            if let number = number.withLock({ $0 }) { try? channel.send(Frame(.abandon, number)) }
        }
        return try result.get()
    }

    private func add(_ waiter: Waiter) -> UInt32 {
        state.withLock { state in
            repeat { state.count &+= 1 } while state.count == 0 || state.waiters[state.count] != nil
            state.waiters[state.count] = waiter
            return state.count
        }
    }

    private func send(_ message: WorkerMessage, _ number: UInt32, _ values: [WireValue], in request: UInt32 = HostQuestions.servedRequest) throws {
        do throws(FrameChannel.SendingError) {
            try channel.send(Frame(message, number, [.integer(Int64(request))] + values))
        } catch {
            switch error {
            case .refused(let reason): throw LuaError(.conversion, "the arguments are too large to leave the process of the script: \(reason)")
            case .closed: throw LuaError(.cancelled, "the host of the script has ended")
            }
        }
    }

    /// Takes an answer.
    func take(_ frame: Frame) {
        guard frame.values.first?.booleanValue == true else {
            return settle(frame.request, .failure(Self.error(of: frame)))
        }
        settle(frame.request, .success(Array(frame.values.dropFirst())))
    }

    private static func error(of frame: Frame) -> any Error {
        let error = LuaError(frame.values.count > 1 ? frame.values[1] : .nil)
        guard frame.values.count > 2, let number = frame.values[2].integerValue else { return error }
        var fields = error.fields
        let kind = error.kind ?? error.code.description
        fields["kind"] = nil
        fields["message"] = nil
        return HostFunctionError(luaKind: kind, luaMessage: error.message, luaFields: fields, number: number)
    }

    private func settle(_ number: UInt32, _ result: Result<[WireValue], any Error>) {
        switch state.withLock({ $0.waiters.removeValue(forKey: number) }) {
        case .blocked(let answer)?:
            answer.result.withLock { $0 = result }
            answer.semaphore.signal()
        case .suspended(let continuation)?: continuation.resume(returning: result)
        case nil: break
        }
    }
}
