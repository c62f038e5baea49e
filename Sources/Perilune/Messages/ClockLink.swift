internal import Foundation
internal import PeriluneDependencies
internal import Synchronization

/// One end of a link that synchronizes a manually set clock between two processes.
final class ClockLink: Sendable {
    private let clock: ManualClock
    /// The last time that was received from the other process, which must not be sent back.
    private let received = Mutex<Int64?>(nil)
    private let observer = Mutex<Int?>(nil)

    init(_ clock: ManualClock) {
        self.clock = clock
    }

    deinit {
        if let id = observer.withLock({ $0 }) { clock.removeObserver(id) }
    }

    /// Returns the time of a clock in microseconds since 1970; `nil` if the time is out of range.
    static func microseconds(of clock: ManualClock) -> Int64? {
        Int64(exactly: (clock.now.timeIntervalSince1970 * 1_000_000).rounded())
    }

    static func date(_ microseconds: Int64) -> Date { Date(timeIntervalSince1970: Double(microseconds) / 1_000_000) }

    /// Calls a closure whenever the clock is set in this process.
    func onChange(_ send: @escaping @Sendable (Int64) -> Void) {
        let id = clock.addObserver { [weak self] in self?.tell(send) }
        observer.withLock { $0 = id }
    }

    private func tell(_ send: (Int64) -> Void) {
        guard let now = Self.microseconds(of: clock) else { return }
        let isKnown = received.withLock { received in
            if received == now { return true }
            received = nil
            return false
        }
        if !isKnown { send(now) }
    }

    /// Sets the clock to a time received from the other process.
    func set(_ microseconds: Int64) {
        received.withLock { $0 = microseconds }
        clock.set(Self.date(microseconds))
    }
}
