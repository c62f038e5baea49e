internal import CPeriluneShim

/// Limits of a script in one run: from the outermost call into Lua until it returns.
///
/// Tasks and timers that a run starts are separate runs, but SQLite's allocations and writes count for all of them together.
///
/// After it passes a limit, the run is over: the script cannot catch the error, and the call throws a ``LuaError`` whose code names the
/// limit. Only ``instructions`` makes the interpreter slower, by a factor of about two: the other limits cost almost nothing until they
/// take effect. To end a loop, the process sends `SIGURG` to the thread that runs it.
///
/// - SeeAlso: Lua 5.4 manual, §4.7, `lua_sethook`.
public struct LuaLimits: Sendable, Equatable {
    /// The memory in bytes that may be in use after a full collection. `nil`: no limit.
    public var memoryInBytes: Int?
    /// The time that a run may take, time in Swift functions included. `nil`: no limit.
    public var time: Duration?
    /// The number of instructions of Lua's interpreter, to the thousand; work in library functions is charged too.
    /// `nil`: no limit.
    public var instructions: Int?
    /// How many bytes SQLite may write to files for a run: to databases, their journals, and files in which it sorts. `nil`: no limit.
    public var diskInBytes: Int?
    /// Whether a run can be cancelled in the middle of a loop even if there is no other limit.
    public var isCancellable: Bool

    /// Makes limits; by default, no limits.
    public init(
        memoryInBytes: Int? = nil, time: Duration? = nil, instructions: Int? = nil, diskInBytes: Int? = nil,
        isCancellable: Bool = false
    ) {
        self.memoryInBytes = memoryInBytes
        self.time = time
        self.instructions = instructions
        self.diskInBytes = diskInBytes
        self.isCancellable = isCancellable
    }

    /// No limits at all: the script is trusted.
    public static let none = LuaLimits()

    var isLimited: Bool {
        memoryInBytes != nil || time != nil || instructions != nil || diskInBytes != nil || isCancellable
    }

    /// Sets the limits that apply for the life of the state.
    func install(in context: UnsafeMutablePointer<plua_context>) {
        guard let memoryInBytes else { return }
        let limit = max(memoryInBytes, 1)
        context.pointee.limit = limit
        // Requests beyond are refused at once. So far above that a table within the limit can still grow to twice its size:
        // a refusal makes Lua collect garbage in the middle of the assignment, which some releases do not survive.
        let (far, overflow) = limit.multipliedReportingOverflow(by: 4)
        let (farther, overflowToo) = far.addingReportingOverflow(16 << 20)
        context.pointee.hard_cap = overflow || overflowToo ? Int.max : farther
    }

    /// Starts the clock of a run.
    ///
    /// - Parameter isCountingOn: Whether what it makes SQLite allocate and write counts together with what runs before it have.
    func start(_ context: UnsafeMutablePointer<plua_context>, isCountingOn: Bool) {
        guard isLimited else { return }
        context.pointee.budget = instructions.map { Int64(max($0, 1)) } ?? Int64.max
        plua_reset_hook(context.pointee.main)
        context.pointee.uncharged = 0
        context.pointee.run_count += 1
        context.pointee.external = 0
        if !isCountingOn {
            context.pointee.count += 1
            context.pointee.disk_left = diskInBytes.map { Int64(max($0, 0)) } ?? Int64.max
        }
        context.pointee.deadline = time.map { plua_now() &+ $0.clampedNanoseconds } ?? 0
    }

    /// Ends a run, so that its cancellation does not affect the next one.
    func stop(_ context: UnsafeMutablePointer<plua_context>) {
        plua_end_watch(context)
        context.pointee.deadline = 0
        context.pointee.budget = Int64.max
        guard plua_cancel_reason_of(context) != LuaCancelReason.none.rawValue else { return }
        plua_clear_cancel_reason(context)
        plua_reset_hook(context.pointee.main)
    }

    func error(for reason: LuaCancelReason, exitStatus: Int32) -> LuaError {
        var error: LuaError
        switch reason {
        case .timeout: error = LuaError(.timeout, "the script ran longer than its limit of \(time.map { "\($0)" } ?? "?")")
        case .memory: error = LuaError(.memory, "the script used more memory than its limit of \(memoryInBytes ?? 0) bytes")
        case .budget: error = LuaError(.budget, "the script exceeded its limit of \(instructions ?? 0) instructions")
        case .disk: error = LuaError(.disk, "the script wrote more to files than its limit of \(diskInBytes ?? 0) bytes")
        case .exit:
            error = LuaError(.exit, "the script ended with status \(exitStatus)")
            error.fields["status"] = .integer(Int64(exitStatus))
        case .cancelled, .none: error = LuaError(.cancelled, "the script was cancelled")
        }
        return error
    }
}

/// Why a run is ended from outside.
package enum LuaCancelReason: Int32, Sendable {
    case none = 0
    case timeout = 1
    case cancelled = 2
    case memory = 3
    case budget = 4
    case exit = 5
    case disk = 6
}

extension Duration {
    /// The nanoseconds, 0 for negative durations, at most about 290 years.
    fileprivate var clampedNanoseconds: UInt64 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        let (nanoseconds, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        return overflow ? UInt64(Int64.max) : UInt64(nanoseconds) + UInt64(attoseconds / 1_000_000_000)
    }
}
