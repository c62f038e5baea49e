#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif
public import Testing

/// A sanitizer of the compiler, see `scripts/test --sanitize=thread`.
public enum Sanitizer: String, Sendable {
    case thread, address

    /// That with which the tests are built; `nil`: none.
    public static let current: Sanitizer? =
        if dlsym(nil, "__tsan_init") != nil { .thread } else if dlsym(nil, "__asan_init") != nil { .address } else { nil }

    /// The sanitizer options of the tests, for the environment of a program that a test starts.
    public static let environment: [String: String] = ["TSAN_OPTIONS", "ASAN_OPTIONS"].reduce(into: [:]) { result, name in
        if let value = getenv(name) { result[name] = String(cString: value) }
    }

    /// After how many seconds a program that a test has started hangs, however busy the machine is.
    public static let patience = current == nil ? 300 : 1800
}

extension Trait where Self == ConditionTrait {
    /// Disables a test under a sanitizer that cannot run it, with a reason.
    public static func unless(_ sanitizer: Sanitizer, _ reason: Comment) -> Self {
        .disabled(if: Sanitizer.current == sanitizer, reason)
    }

    /// For tests in which a signal ends a Lua loop: the thread sanitizer delays signals until the program calls an intercepted function.
    /// A loop that is not itself under test may call `os.time`.
    public static var endsLoopBySignal: Self {
        .unless(.thread, "the sanitizer holds signals back while Lua loops")
    }
}

extension Trait where Self == TimeLimitTrait {
    /// For tests that would wait forever for a missing event. The limit is long, because all tests begin at once and wait for their turn.
    public static var patience: Self { .timeLimit(.minutes(Sanitizer.current == nil ? 15 : 60)) }
}
