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

    /// The options of the sanitizer in the environment of a program that a test starts: those of the tests.
    public static let environment: [String: String] = ["TSAN_OPTIONS", "ASAN_OPTIONS"].reduce(into: [:]) { result, name in
        if let value = getenv(name) { result[name] = String(cString: value) }
    }

    /// After how many seconds a program that a test has started hangs, however busy the machine is.
    public static let patience = current == nil ? 300 : 1800
}

extension Trait where Self == ConditionTrait {
    /// Leaves a test out under a sanitizer that cannot run it, and says why.
    public static func unless(_ sanitizer: Sanitizer, _ reason: Comment) -> Self {
        .disabled(if: Sanitizer.current == sanitizer, reason)
    }

    /// For tests in which a signal ends a loop of Lua: the thread sanitizer holds signals back until a function is called that it
    /// intercepts. Where the loop itself is not what is tested it may call `os.time`.
    public static var endsLoopBySignal: Self {
        .unless(.thread, "the sanitizer holds signals back while Lua loops")
    }
}

extension Trait where Self == TimeLimitTrait {
    /// For tests that would wait for ever for what does not come. Not less: all tests begin at once, and wait for their turn.
    public static var patience: Self { .timeLimit(.minutes(Sanitizer.current == nil ? 15 : 60)) }
}
