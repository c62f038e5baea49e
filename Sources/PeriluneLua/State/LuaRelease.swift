internal import CPeriluneShim
#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A release of Lua 5.4 and its known bugs.
public struct LuaRelease: Sendable, Hashable, CustomStringConvertible {
    /// The last part of the version: 4 for Lua 5.4.4.
    public let number: Int

    /// Names a release of Lua 5.4.
    public init(_ number: Int) {
        self.number = number
    }

    public var description: String { "5.4.\(number)" }

    /// The release of the loaded library.
    public static let current = LuaRelease(loadedNumber ?? Int(LUA_VERSION_RELEASE) ?? 0)

    /// The release number in the identification that the loaded library carries; the headers may be of another release.
    private static var loadedNumber: Int? {
        guard let text = loadedIdentification.map({ String(cString: $0) }), let prefix = text.firstRange(of: "Lua 5.4.") else { return nil }
        return Int(text[prefix.upperBound...].prefix { $0.isNumber })
    }

    /// The text `$LuaVersion: Lua 5.4.4  Copyright ...` of the loaded library.
    private static var loadedIdentification: UnsafePointer<CChar>? {
        dlsym(nil, "lua_ident").map { UnsafePointer($0.assumingMemoryBound(to: CChar.self)) }
    }

    /// Returns whether the process has loaded the library of this identification, so that bytecode made by it can be loaded.
    package static func isLoaded(_ identification: StaticString) -> Bool {
        guard let loaded = loadedIdentification else { return false }
        return identification.withUTF8Buffer { bytes in
            strncmp(loaded, UnsafeRawPointer(bytes.baseAddress!).assumingMemoryBound(to: CChar.self), bytes.count + 1) == 0
        }
    }

    /// A bug that a text script can trigger.
    public struct Bug: Sendable, Hashable, CustomStringConvertible {
        /// A description of the bug.
        public let description: String
        /// The release of Lua 5.4 that fixes the bug.
        public let fixedIn: Int
        /// Whether states of this library prevent the bug.
        public let isClosed: Bool
    }

    /// The bugs of this release that later releases have fixed.
    public var knownBugs: [Bug] {
        Self.bugs.filter { $0.fixedIn > number }
    }

    /// - SeeAlso: The log of Lua's own repository.
    private static let bugs = [
        Bug(description: "a long chain of coroutine.close overflows the stack", fixedIn: 5, isClosed: true),
        Bug(
            description: "an error in a very long expression a.b.b.b... overflows the stack", fixedIn: 7, isClosed: true
        ),
        Bug(
            description: "an assignment to a weak table may use freed memory in an emergency collection", fixedIn: 8,
            isClosed: true),
        Bug(description: "1 ~ (2 or 3) after 257 constants in a function is wrong", fixedIn: 5, isClosed: false),
        Bug(description: "break in a for loop may close the wrong variable", fixedIn: 5, isClosed: false),
        Bug(description: "comparing strings that hold NULs may read beyond their end", fixedIn: 7, isClosed: false),
        Bug(description: "an error in a __close method may lose the message handler", fixedIn: 8, isClosed: false),
    ]
}
