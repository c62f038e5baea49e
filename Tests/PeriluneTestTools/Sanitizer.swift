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
}

extension Trait where Self == ConditionTrait {
    /// Leaves a test out under a sanitizer that cannot run it, and says why.
    public static func unless(_ sanitizer: Sanitizer, _ reason: Comment) -> Self {
        .disabled(if: Sanitizer.current == sanitizer, reason)
    }
}
