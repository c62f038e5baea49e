internal import Glibc

/// Calls a closure with texts as C takes the arguments and the environment of a program: each with a NUL at its end, NULL after the last.
package func withCStrings<Result>(_ texts: [[UInt8]], _ body: ([UnsafeMutablePointer<CChar>?]) throws -> Result) rethrows -> Result {
    let strings = texts.map { bytes in strdup((bytes + [0]).map { CChar(bitPattern: $0) }) } + [nil]
    defer { for string in strings { free(string) } }
    return try body(strings)
}

/// The same for an environment.
package func withCStrings<Result>(
    _ environment: [String: String], _ body: ([UnsafeMutablePointer<CChar>?]) throws -> Result
) rethrows -> Result {
    try withCStrings(environment.map { Array("\($0)=\($1)".utf8) }, body)
}
