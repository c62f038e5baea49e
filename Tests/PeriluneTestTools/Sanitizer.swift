#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif
public import Testing

/// A compiler sanitizer; see `scripts/test --sanitize=thread`.
public enum Sanitizer: String, Sendable {
    case thread, address

    /// The sanitizer with which the tests are built; `nil` without one.
    public static let current: Sanitizer? =
        if dlsym(nil, "__tsan_init") != nil { .thread } else if dlsym(nil, "__asan_init") != nil { .address } else { nil }

    /// The sanitizer options of the tests, for the environment of a program that a test starts.
    public static let environment: [String: String] = ["TSAN_OPTIONS", "ASAN_OPTIONS"].reduce(into: [:]) { result, name in
        if let value = getenv(name) { result[name] = String(cString: value) }
    }

    /// The number of seconds after which a program started by a test counts as hanging, even on a busy machine.
    public static let patience = current == nil ? 300 : 1800
}

extension Trait where Self == ConditionTrait {
    /// Disables a test under a sanitizer that cannot run it, with a reason.
    public static func unless(_ sanitizer: Sanitizer, _ reason: Comment) -> Self {
        .disabled(if: Sanitizer.current == sanitizer, reason)
    }

    /// For tests in which a signal ends a Lua loop: the thread sanitizer delays signals until the program calls an intercepted function.
    /// A loop that only fills time can call `os.time`.
    public static var endsLoopBySignal: Self {
        .unless(.thread, "the sanitizer holds signals back while Lua loops")
    }
}

extension Trait where Self == TimeLimitTrait {
    /// A time limit for tests that would wait forever for a missing event. The limit is long, because all tests start at the same
    /// time and then wait for a thread.
    public static var patience: Self { .timeLimit(.minutes(Sanitizer.current == nil ? 15 : 60)) }
}
