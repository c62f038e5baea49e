internal import Foundation
internal import Logging
internal import PeriluneBindings
internal import PeriluneDependencies
internal import PeriluneIsolation
internal import PeriluneLua

/// The environment of scripts in a worker process, which requests the time, UUIDs and random numbers from the host if the host overrides
/// these dependencies.
enum WorkerEnvironment {
    static func make(_ setup: WorkerSetup, _ questions: HostQuestions) -> ScriptEnvironment {
        var logger = Logger(label: "perilune") { _ in WorkerLogHandler(questions: questions) }
        logger.logLevel = Logger.Level(rawValue: setup.logLevel) ?? .info
        var environment = ScriptEnvironment.machine
        environment.context = setup.context
        environment.logger = logger
        if let now = setup.clock {
            environment.date = .manual(ManualClock(ClockLink.date(now)))
        } else if setup.asksForDate {
            environment.date = DateSource { ClockLink.date(integer(.now, questions) ?? 0) }
        }
        if setup.asksForUUID { environment.uuid = UUIDSource { uuid(questions) } }
        if setup.asksForRandom { environment.random = RandomSource { UInt64(bitPattern: integer(.random, questions) ?? 0) } }
        return environment
    }

    private static func integer(_ message: WorkerMessage, _ questions: HostQuestions) -> Int64? {
        try? questions.ask(message, []).first?.integerValue
    }

    private static func uuid(_ questions: HostQuestions) -> UUID {
        let text = try? questions.ask(.uuid, []).first?.text
        return text.flatMap { UUID(uuidString: $0) } ?? UUID()
    }
}

/// A log handler that sends messages to the host.
private struct WorkerLogHandler: LogHandler {
    let questions: HostQuestions
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.info

    init(questions: HostQuestions) {
        self.questions = questions
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let all = metadata.merging(event.metadata ?? [:]) { $1 }
        questions.tell(
            .log,
            [
                .text(event.level.rawValue), .text(event.message.description), .text(event.source),
                .fields(all.map { ($0.key, .text($0.value.description)) }),
            ])
    }
}
