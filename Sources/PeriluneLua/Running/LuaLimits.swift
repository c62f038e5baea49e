internal import CPeriluneShim

/// The limits of a single run. A run lasts from the outermost call into Lua until that call returns.
///
/// Tasks and timers started by a run are separate runs, but they share its limits for SQLite's allocations and writes.
///
/// Exceeding a limit ends the run: the script cannot catch the error, and the call throws a ``LuaError`` whose code identifies the
/// limit. Only ``instructions`` slows the interpreter down, by a factor of about two. The other limits cost almost nothing until
/// they are exceeded. To end a loop, the process sends `SIGURG` to the thread that runs it.
///
/// - SeeAlso: Lua 5.4 manual, §4.7, `lua_sethook`.
public struct LuaLimits: Sendable, Equatable {
    /// The maximum memory that Lua may use after a full garbage collection, in bytes; `nil` means no limit.
    public var memoryInBytes: Int?
    /// The maximum time of a run, including the time in Swift functions; `nil` means no limit.
    public var time: Duration?
    /// The maximum number of interpreter instructions, rounded to thousands, including a charge for work in library functions.
    /// `nil` means no limit.
    public var instructions: Int?
    /// The maximum number of bytes that SQLite may write to files during a run: databases, their journals, and temporary files for
    /// sorting. `nil` means no limit.
    public var diskInBytes: Int?
    /// Whether a run can be cancelled in the middle of a loop even if no other limit is set.
    public var isCancellable: Bool

    /// Creates limits. By default, nothing is limited.
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

    /// No limits, for trusted scripts.
    public static let none = LuaLimits()

    var isLimited: Bool {
        memoryInBytes != nil || time != nil || instructions != nil || diskInBytes != nil || isCancellable
    }

    /// Returns a copy in which the limits set in `other` override these limits. The memory limit never changes.
    func replaced(by other: LuaLimits) -> LuaLimits {
        var limits = self
        limits.time = other.time ?? time
        limits.instructions = other.instructions ?? instructions
        limits.diskInBytes = other.diskInBytes ?? diskInBytes
        return limits
    }

    /// Installs the memory limit, which applies for the lifetime of the state.
    func install(in context: UnsafeMutablePointer<plua_context>) {
        guard let memoryInBytes else { return }
        let limit = max(memoryInBytes, 1)
        context.pointee.limit = limit
        // The allocator rejects requests above this cap immediately. The cap is high enough for a table within the limit to double
        // its size, because after a rejected request Lua collects garbage during the assignment, which crashes some releases.
        let (far, overflow) = limit.multipliedReportingOverflow(by: 4)
        let (farther, overflowToo) = far.addingReportingOverflow(16 << 20)
        context.pointee.hard_cap = overflow || overflowToo ? Int.max : farther
    }

    /// Starts applying the limits to a run.
    ///
    /// - Parameter isCountingOn: Whether SQLite's allocations and writes in the run are added to the totals of earlier runs.
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

    /// Stops applying the limits, and clears a cancellation so that it does not end the next run.
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
        case .memory:
            error = LuaError(.memory, "the script used more memory than its limit of \(Self.text(ofBytes: memoryInBytes ?? 0))")
        case .budget: error = LuaError(.budget, "the script exceeded its limit of \(instructions ?? 0) instructions")
        case .disk:
            error = LuaError(.disk, "the script wrote more to files than its limit of \(Self.text(ofBytes: diskInBytes ?? 0))")
        case .exit:
            error = LuaError(.exit, "the script ended with status \(exitStatus)")
            error.fields["status"] = .integer(Int64(exitStatus))
        case .cancelled, .none: error = LuaError(.cancelled, "the script was cancelled")
        }
        return error
    }
}

extension LuaLimits {
    /// Returns a size in the largest unit of which it is a multiple, as limits are set: `64 MB`, `1536 MB`, `1000 bytes`.
    package static func text(ofBytes bytes: Int) -> String {
        guard bytes != 1 else { return "1 byte" }
        guard bytes > 0 else { return "\(bytes) bytes" }
        let units = [(30, "GB"), (20, "MB"), (10, "KB")]
        guard let (shift, name) = units.first(where: { bytes & ((1 << $0.0) - 1) == 0 }) else { return "\(bytes) bytes" }
        return "\(bytes >> shift) \(name)"
    }
}

/// The reason why a limit, the host or `os.exit` ends a run.
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
    /// The duration in nanoseconds, clamped to the range from 0 to about 290 years.
    fileprivate var clampedNanoseconds: UInt64 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        let (nanoseconds, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        return overflow ? UInt64(Int64.max) : UInt64(nanoseconds) + UInt64(attoseconds / 1_000_000_000)
    }
}
