internal import Foundation
internal import PeriluneBindings
internal import PeriluneDependencies
internal import PeriluneIsolation
internal import PeriluneLua
internal import Synchronization

/// The connection between a host and the process of its scripts. All received data is untrusted.
final class WorkerConnection: Sendable {
    /// A weak reference to the host that owns the connection.
    private final class Owner: Sendable {
        private let host = Mutex(Reference())
        private let isKnown = DispatchSemaphore(value: 0)

        private struct Reference: Sendable {
            weak var host: ScriptHost?
        }

        func set(_ host: ScriptHost?) {
            self.host.withLock { $0.host = host }
            isKnown.signal()
        }

        var value: ScriptHost? { host.withLock { $0.host } }

        /// Blocks until the host is set, or the connection is released without a host.
        func wait() { isKnown.wait() }
    }

    private struct State {
        var count: UInt32 = 0
        var requests: [UInt32: PendingRequest] = [:]
        /// The numbers of the cancelled requests.
        var cancelled: Set<UInt32> = []
        /// The questions that are being answered, by number.
        var questions: [UInt32: Question] = [:]
        /// The total size of the arguments of these questions.
        var questionsInBytes = 0
        /// The errors thrown by Swift functions. The process refers to them by number.
        var errors: [Int64: any Error] = [:]
        var errorCount: Int64 = 0
        /// The error that describes why the process has ended or is being killed.
        var reason: LuaError?
        var hasEnded = false
        var lastCall: String?
        /// The signals that scripts observe.
        var signals: Set<String> = []
        /// The link to the scripts' clock, if the clock is set manually.
        var clock: ClockLink?
    }

    /// A question from the process that is being answered.
    private struct Question {
        /// Whether a blocked thread of the process waits for the answer, which the process cannot interrupt.
        var isWaitedFor = true
        var task: Task<Void, Never>?
        /// Whether the process no longer needs the answer. Its message `abandon` may arrive before `task` is set.
        var isAbandoned = false
        var call: String?
        var sizeInBytes: Int
    }

    private let host = Owner()
    let process: WorkerProcess
    let grace: Duration
    /// The isolation layers that are active in the process.
    let layers: Set<IsolationLayer>
    private let state = Mutex(State())
    /// Back pressure for a process that sends output faster than the host handles it.
    private let printing = OutputGate()

    /// Limits on simultaneous questions, which protect the host's memory. A process that exceeds them is killed.
    private static let questionLimit = 1 << 16
    private static let questionLimitInBytes = 1 << 30
    /// The number of errors that are kept for the process. If it is exceeded, the oldest error is dropped: it keeps its text but loses the
    /// original Swift error.
    private static let errorLimit: Int64 = 1000

    private init(process: WorkerProcess, grace: Duration, layers: Set<IsolationLayer>) {
        (self.process, self.grace, self.layers) = (process, grace, layers)
    }

    deinit {
        // The process exits when its connection closes. The reading thread then reads the end of the stream and waits for the process.
        process.channel.shutDown()
        host.set(nil)
    }

    /// Starts the process, and waits until it is ready to run scripts, which includes opening its database. If the task is cancelled, kills
    /// the process.
    ///
    /// - Throws: `LuaError` with code `usage` if the process cannot be started or lacks a required isolation layer; any error of opening
    ///   the database; `CancellationError`.
    static func start(
        _ isolation: ScriptIsolation.Process, _ setup: WorkerSetup, environment: ScriptEnvironment
    ) async throws -> WorkerConnection {
        let process = try WorkerProgram.start(isolation)
        // A cancelled start fails because the process was killed; this error is replaced by a cancellation error.
        return try await Task.preferringCancellation {
            try await withTaskCancellationHandler {
                try await serve(process, isolation, setup, environment)
            } onCancel: {
                process.kill(patience: .zero)
            }
        }
    }

    /// Starts a thread that performs the handshake and reads the messages of the process until it ends.
    private static func serve(
        _ process: WorkerProcess, _ isolation: ScriptIsolation.Process, _ setup: WorkerSetup, _ environment: ScriptEnvironment
    ) async throws -> WorkerConnection {
        try await withCheckedThrowingContinuation { continuation in
            let thread = Thread {
                let layers: Set<IsolationLayer>
                do {
                    layers = try shakeHands(process, setup, environment)
                    let missing = isolation.requiredLayers.subtracting(layers)
                    guard missing.isEmpty else { throw failure(missing: missing) }
                } catch {
                    process.kill(patience: .zero)
                    _ = process.waitForEnd()
                    return continuation.resume(throwing: error)
                }
                let (connection, host) = begin(process, isolation.grace, layers, continuation)
                host.wait()
                read(process, for: connection)
            }
            thread.stackSize = 1 << 20
            thread.start()
        }
    }

    /// Creates the connection and passes it to the waiting caller. The reading thread keeps only a weak reference.
    private static func begin(
        _ process: WorkerProcess, _ grace: Duration, _ layers: Set<IsolationLayer>,
        _ continuation: CheckedContinuation<WorkerConnection, any Error>
    ) -> (connection: () -> WorkerConnection?, host: Owner) {
        let connection = WorkerConnection(process: process, grace: grace, layers: layers)
        let host = connection.host
        continuation.resume(returning: connection)
        return ({ [weak connection] in connection }, host)
    }

    private static func failure(missing: Set<IsolationLayer>) -> LuaError {
        LuaError(.usage, "the system does not support the required layers of isolation: \(IsolationLayer.names(of: missing))")
    }

    private static func shakeHands(
        _ process: WorkerProcess, _ setup: WorkerSetup, _ environment: ScriptEnvironment
    ) throws -> Set<IsolationLayer> {
        try? process.channel.send(Frame(.hello, 0, [setup.value]))
        while let frame = try process.channel.receive(), let message = WorkerMessage(rawValue: frame.kind) {
            switch message {
            case .ready: return Set((frame.values.first?.elements ?? []).compactMap { $0.text.flatMap { IsolationLayer($0) } })
            case .unready:
                let error = LuaError(frame.values.first ?? .nil)
                throw error.underlying ?? error
            case .now, .uuid, .random:
                // The process may need the time, UUIDs and random numbers already while it creates its Lua state.
                let answer = environment.answer(to: message).map { [.boolean(true), $0] } ?? [.boolean(false)]
                try? process.answers.send(Frame(.answer, frame.request, answer))
            // The statements that open the database do not belong to a script, and are not traced.
            case .statement: break
            default: throw LuaError(.crashed, "the worker process answered without a request")
            }
        }
        // The process sent an invalid message, or closed the connection.
        process.kill(patience: .zero)
        throw error(for: process.waitForEnd(), after: nil)
    }

    // MARK: - Reading

    /// Reads messages until the process has ended. Runs on the thread of the connection.
    private static func read(_ process: WorkerProcess, for connection: () -> WorkerConnection?) {
        var violation: String?
        do throws(FrameError) {
            while let frame = try process.channel.receive() {
                guard let connection = connection() else { break }
                guard connection.take(frame) else {
                    violation = "it sent a message that is not allowed"
                    break
                }
            }
        } catch {
            violation = error.description
        }
        process.channel.shutDown()
        // Kills a process that has closed its connection without exiting, or that has violated the protocol.
        process.kill()
        let ending = process.waitForEnd()
        connection()?.end(ending, violation)
    }

    /// Handles a message. Returns `false` if the message violates the protocol.
    private func take(_ frame: Frame) -> Bool {
        guard let message = WorkerMessage(rawValue: frame.kind) else { return false }
        let values = frame.values
        switch message {
        case .result: return settle(frame.request, .success(values))
        case .failure: return settle(frame.request, .failure(LuaError(values.first ?? .nil, hostError: error(of:))))
        case .callFunction, .callAtOnce, .findModule, .now, .uuid, .random, .isOwnerAlive: return ask(message, frame)
        case .abandon: abandon(frame.request)
        case .print:
            guard let bytes = values.first?.bytes else { return false }
            let endsLine = values.count < 2 || values[1].booleanValue == true
            enqueue(of: bytes.count) { backend, host in backend.write(bytes, endsLine: endsLine, in: host) }
        case .log: enqueue(of: WireValue.list(values).sizeInMemory) { backend, host in backend.log(values, in: host) }
        case .statement:
            guard let sql = values.first?.text else { return false }
            let event = SQLTrace.Event(sql: sql, duration: values.count > 1 ? values[1].duration : nil)
            enqueue(of: sql.utf8.count) { backend, host in backend.receive(event) }
        case .callbackFailure:
            enqueue(of: WireValue.list(values).sizeInMemory) { backend, host in
                host.report(callbackFailure: LuaError(values.first ?? .nil))
            }
        case .signals: state.withLock { $0.signals = Set((values.first?.elements ?? []).compactMap(\.text)) }
        case .clock:
            guard let microseconds = values.first?.integerValue else { return false }
            state.withLock { $0.clock }?.set(microseconds)
        case .measured:
            guard values.count == 2, let number = values[0].integerValue.flatMap({ UInt32(exactly: $0) }) else { return false }
            state.withLock { $0.requests[number] }?.figures = RunFigures(values[1])
        case .committed:
            let tables = values.compactMap(\.text)
            enqueue(of: WireValue.list(values).sizeInMemory) { backend, host in backend.noteCommit(of: tables) }
        case .runEvent:
            enqueue(of: WireValue.list(values).sizeInMemory) { backend, host in backend.takeRunEvent(values, in: host) }
        case .ready, .unready: return false
        }
        return true
    }

    /// Runs a closure on the host's thread, in order of arrival. Blocks the reading thread, and thus the process, if too many bytes are
    /// pending.
    private func enqueue(of sizeInBytes: Int, _ body: @escaping @Sendable (WorkerBackend, isolated ScriptHost) -> Void) {
        guard let host = host.value else { return }
        printing.enter(sizeInBytes)
        host.thread.enqueue { [printing] in
            host.assumeIsolated { host in
                if let backend = host.backend as? WorkerBackend { body(backend, host) }
            }
            printing.leave(sizeInBytes)
        }
    }

    // MARK: - Requests

    /// Sends a request, and registers the object that receives its questions and its result.
    func begin(_ message: HostMessage, _ values: [WireValue], _ request: PendingRequest) throws -> UInt32 {
        let number = try state.withLock { state in
            if let reason = state.reason {
                throw LuaError(.crashed, "the process of the scripts has ended (\(reason.message)); make another host")
            }
            repeat { state.count &+= 1 } while state.count == 0 || state.requests[state.count] != nil
            state.requests[state.count] = request
            return state.count
        }
        do throws(FrameChannel.SendingError) {
            try process.channel.post(Frame(message, number, values))
        } catch {
            // Other errors mean that the connection is closed. In this case, `end` completes all requests.
            if case .refused(let reason) = error {
                forget(number)
                // A hostile process may already have asked questions for this request.
                for question in request.takeQuestions() { enqueue(of: 0) { backend, host in backend.answer(question, in: host) } }
                throw LuaError(.conversion, "the arguments are too large for the process of the scripts: \(reason)")
            }
        }
        // If the request was cancelled before it was sent, the process has ignored the cancellation, so it is sent again.
        if state.withLock({ $0.cancelled.contains(number) }) { tell(Frame(.cancel, number)) }
        return number
    }

    @discardableResult
    func forget(_ number: UInt32) -> PendingRequest? {
        state.withLock { state in
            state.cancelled.remove(number)
            return state.requests.removeValue(forKey: number)
        }
    }

    private func settle(_ number: UInt32, _ result: Result<[WireValue], any Error>) -> Bool {
        guard let request = forget(number) else { return false }
        request.add(.ended(result))
        return true
    }

    // MARK: - Questions

    private func ask(_ message: WorkerMessage, _ frame: Frame) -> Bool {
        guard let served = frame.values.first?.integerValue else { return false }
        let question = WorkerQuestion(message: message, number: frame.request, values: Array(frame.values.dropFirst()))
        let size = WireValue.list(frame.values).sizeInMemory
        let asked: (isNew: Bool, request: PendingRequest?) = state.withLock { state in
            guard state.questions[frame.request] == nil, state.questions.count < Self.questionLimit,
                state.questionsInBytes + size <= Self.questionLimitInBytes
            else { return (false, nil) }
            state.questions[frame.request] = Question(call: question.functionName, sizeInBytes: size)
            state.questionsInBytes += size
            if let name = question.functionName { state.lastCall = name }
            return (true, UInt32(exactly: served).flatMap { state.requests[$0] })
        }
        guard asked.isNew else { return false }
        if let request = asked.request {
            request.add(.question(question))
        } else {
            enqueue(of: 0) { backend, host in backend.answer(question, in: host) }
        }
        return true
    }

    /// Stores the task that answers a question, so that the question can be abandoned.
    func keep(_ task: Task<Void, Never>, of question: WorkerQuestion) {
        let isAbandoned = state.withLock { state in
            state.questions[question.number]?.task = task
            return state.questions[question.number]?.isAbandoned == true
        }
        if isAbandoned { task.cancel() }
    }

    /// Cancels the task that answers a question.
    private func abandon(_ number: UInt32) {
        let task = state.withLock { state in
            state.questions[number]?.isAbandoned = true
            return state.questions[number]?.task
        }
        task?.cancel()
    }

    /// Releases the thread of the process that waits for the answer to a question, unless the question has been answered.
    func answerLater(_ question: WorkerQuestion) {
        let isWaiting = state.withLock { state in
            defer { state.questions[question.number]?.isWaitedFor = false }
            return state.questions[question.number]?.isWaitedFor == true
        }
        if isWaiting { try? process.answers.post(Frame(.answerLater, question.number)) }
    }

    /// Sends the answer to a question.
    func answer(_ question: WorkerQuestion, _ result: Result<[WireValue], any Error>) {
        let isWaitedFor = state.withLock { state in
            guard let answered = state.questions.removeValue(forKey: question.number) else { return true }
            state.questionsInBytes -= answered.sizeInBytes
            return answered.isWaitedFor
        }
        let channel = isWaitedFor ? process.answers : process.channel
        do throws(FrameChannel.SendingError) {
            try channel.post(frame(for: result, question.number))
        } catch {
            // If sending fails on either channel, the process does not read answers, and is ended.
            guard case .refused(let reason) = error else { return process.channel.shutDown() }
            let failure = LuaError(
                .conversion,
                "the result of \(question.functionName ?? "the host") is too large for the process of the scripts: \(reason)")
            try? channel.post(frame(for: .failure(failure), question.number))
        }
    }

    private func frame(for result: Result<[WireValue], any Error>, _ number: UInt32) -> Frame {
        switch result {
        case .success(let values): return Frame(.answer, number, [.boolean(true)] + values)
        case .failure(let error):
            let described = error as? LuaError ?? LuaError(.host, "\(error)")
            // Only errors with code `host` have an original Swift error, which is kept here under a number.
            guard described.code == .host else { return Frame(.answer, number, [.boolean(false), WireValue(described)]) }
            return Frame(.answer, number, [.boolean(false), WireValue(described), .integer(keep(described.underlying ?? error))])
        }
    }

    private func keep(_ error: any Error) -> Int64 {
        state.withLock { state in
            state.errorCount += 1
            state.errors[state.errorCount] = error
            state.errors[state.errorCount - Self.errorLimit] = nil
            return state.errorCount
        }
    }

    private func error(of number: Int64) -> (any Error)? {
        state.withLock { $0.errors[number] }
    }

    // MARK: - Ending

    /// Sends a message that needs no answer.
    private func tell(_ frame: Frame) {
        try? process.channel.post(frame)
    }

    /// Closes the connection, which ends the process.
    func close() { process.channel.shutDown() }

    /// Whether the process has ended.
    var hasEnded: Bool { state.withLock { $0.hasEnded } }

    func limitTime(to time: Duration) {
        tell(Frame(.limitTime, 0, [WireValue(time)]))
    }

    /// Notifies the process about a commit.
    ///
    /// - Parameter tables: The changed tables; empty if they are unknown.
    func noteCommit(of tables: [String]) {
        tell(Frame(.noteCommit, 0, tables.map { .text($0) }))
    }

    /// Asks the process to report the start and end of its runs.
    func reportRuns() {
        tell(Frame(.reportRuns, 0))
    }

    /// Shares a manually set clock with the process, in both directions.
    func share(_ clock: ManualClock) {
        let link = ClockLink(clock)
        link.onChange { [weak self] in self?.tell(Frame(.setClock, 0, [.integer($0)])) }
        state.withLock { $0.clock = link }
    }

    /// Forwards a signal to the process. Returns whether a script observes the signal.
    func deliver(signal name: String) -> Bool {
        guard state.withLock({ $0.signals.contains(name) }) else { return false }
        tell(Frame(.signal, 0, [.text(name)]))
        return true
    }

    /// Cancels one request, or all requests if the number is 0, and kills the process if they do not end within the grace period. Requests
    /// that are already cancelled are not cancelled again, because repeated messages would delay later ones.
    func cancel(_ number: UInt32) {
        let (isIdle, cancelled) = state.withLock { state in
            let requests = state.requests.keys.filter { number == 0 || $0 == number }
            let cancelled = Set(requests).subtracting(state.cancelled)
            state.cancelled.formUnion(cancelled)
            return (requests.isEmpty, cancelled)
        }
        guard !cancelled.isEmpty else {
            // Callbacks can run even if no request is active.
            if number == 0, isIdle { tell(Frame(.cancel, 0)) }
            return
        }
        tell(Frame(.cancel, number))
        _ = kill(ifOccupiedBy: cancelled, after: grace, for: LuaError(.cancelled, "the script was cancelled"))
    }

    /// Kills the process if a request is still active after its time limit and the grace period.
    func watch(_ number: UInt32, limit: Duration, _ failure: LuaError) -> Task<Void, Never> {
        kill(ifOccupiedBy: [number], after: limit + grace, for: failure)
    }

    /// Kills the process if any of the requests is still active after a delay. Cancel the returned task to prevent this.
    private func kill(ifOccupiedBy numbers: Set<UInt32>, after time: Duration, for reason: LuaError) -> Task<Void, Never> {
        Task.detached { [weak self, grace] in
            try? await Task.sleep(for: time)
            var graceCount = 1
            while !Task.isCancelled, let self, self.isOccupied(by: numbers) {
                // The process is not killed while it waits for a Swift function of the host. If only a task of a script waits, the process
                // can end the task without the function, but the task gets ten grace periods.
                if !self.isAnswering(whileTasksWait: graceCount < 10) { return self.kill(for: reason) }
                graceCount += 1
                try? await Task.sleep(for: grace)
            }
        }
    }

    private func isOccupied(by numbers: Set<UInt32>) -> Bool {
        state.withLock { state in numbers.contains { state.requests[$0] != nil } }
    }

    /// Returns whether a Swift function of the host is running for which a blocked thread of the process waits.
    ///
    /// - Parameter tasksCount: Whether functions for which only a task waits count, too.
    private func isAnswering(whileTasksWait tasksCount: Bool) -> Bool {
        state.withLock { $0.questions.values.contains { $0.call != nil && !$0.isAbandoned && ($0.isWaitedFor || tasksCount) } }
    }

    /// Kills the process, and records the reason as the error of its active requests.
    private func kill(for reason: LuaError) {
        state.withLock { state in
            if state.reason == nil { state.reason = reason }
        }
        process.kill()
    }

    private func end(_ ending: WorkerProcess.Ending, _ violation: String?) {
        let (requests, tasks, error) = state.withLock { state in
            let error = Self.error(
                for: ending, after: state.reason, violation,
                lastCall: state.questions.values.compactMap(\.call).first ?? state.lastCall)
            (state.reason, state.hasEnded, state.clock) = (error, true, nil)
            defer { (state.requests, state.questions, state.errors) = ([:], [:], [:]) }
            return (Array(state.requests.values), state.questions.values.compactMap(\.task), error)
        }
        for task in tasks { task.cancel() }
        for request in requests { request.add(.ended(.failure(error))) }
        enqueue(of: 0) { backend, host in backend.noteEnd(error, in: host) }
    }

    /// Returns the error for the requests of a process that has ended.
    private static func error(
        for ending: WorkerProcess.Ending, after reason: LuaError?, _ violation: String? = nil, lastCall: String? = nil
    ) -> LuaError {
        var error: LuaError
        if let reason {
            error = reason
        } else {
            let what = violation.map { "was killed, because \($0)" } ?? ending.text
            error = LuaError(.crashed, "the process of the script \(what)")
            error.fields["kind"] = "crashed"
            if let signal = ending.signal { error.fields["signal"] = .integer(Int64(signal)) }
            if let lastCall { error.fields["host_call"] = .string(lastCall) }
        }
        if let position = ending.position { (error.file, error.line) = position }
        return error
    }
}

extension WorkerConnection: ScriptControl {
    /// Starts to serve the process. Messages that arrive earlier are not read until then, because a question without a host would never be
    /// answered.
    func attach(to host: ScriptHost) {
        host.runReporter.whenOn { [weak self] in
            self?.reportRuns() != nil
        } isAlive: { [weak self] in
            self?.hasEnded == false
        }
        self.host.set(host)
    }

    func cancel() { cancel(0) }
    func cancelRuns() { cancel(0) }
    func cancelRunOrNext() { cancel(0) }
    var processID: Int32? { process.id }
}

/// An active request to the process, with a queue of its events.
final class PendingRequest: Sendable {
    enum Event: Sendable {
        /// A question that the waiting task must answer.
        case question(WorkerQuestion)
        case ended(Result<[WireValue], any Error>)
    }

    private let state = Mutex((events: [Event](), waiter: CheckedContinuation<Event, Never>?.none, figures: RunFigures?.none))

    /// The figures of the request's run; `nil` until the run has ended.
    var figures: RunFigures? {
        get { state.withLock { $0.figures } }
        set { state.withLock { $0.figures = newValue } }
    }

    func add(_ event: Event) {
        let waiter = state.withLock { state in
            guard let waiter = state.waiter else {
                state.events.append(event)
                return CheckedContinuation<Event, Never>?.none
            }
            state.waiter = nil
            return waiter
        }
        waiter?.resume(returning: event)
    }

    /// Removes and returns the questions that no task has received.
    func takeQuestions() -> [WorkerQuestion] {
        state.withLock { state in
            defer { state.events = [] }
            return state.events.compactMap { if case .question(let question) = $0 { question } else { nil } }
        }
    }

    /// Waits for the next event, even in a cancelled task, because the process reports how a cancelled request ends.
    nonisolated(nonsending) func next() async -> Event {
        await withCheckedContinuation { continuation in
            let event = state.withLock { state -> Event? in
                guard state.events.isEmpty else { return state.events.removeFirst() }
                state.waiter = continuation
                return nil
            }
            if let event { continuation.resume(returning: event) }
        }
    }
}

/// A question from the scripts' process to its host.
struct WorkerQuestion: Sendable {
    let message: WorkerMessage
    let number: UInt32
    let values: [WireValue]

    /// The name of the Swift function to call, with its module.
    var functionName: String? {
        guard message == .callFunction || message == .callAtOnce, values.count >= 2, let module = values[0].text,
            let name = values[1].text
        else { return nil }
        return "\(module).\(name)"
    }
}

/// A gate that blocks the reading thread while too many bytes are pending.
private final class OutputGate: Sendable {
    private static let limitInBytes = 4 << 20
    private let condition = NSCondition()
    /// Guarded by `condition`, which makes `nonisolated(unsafe)` safe.
    private nonisolated(unsafe) var byteCount = 0

    func enter(_ count: Int) {
        condition.lock()
        while byteCount > Self.limitInBytes { condition.wait() }
        byteCount += count + 64
        condition.unlock()
    }

    func leave(_ count: Int) {
        condition.lock()
        byteCount -= count + 64
        condition.signal()
        condition.unlock()
    }
}
