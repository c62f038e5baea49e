internal import Glibc

/// Calls a closure with an `argv`-style array of C strings, which is terminated by a null pointer.
package func withCStrings<Result>(_ texts: [[UInt8]], _ body: ([UnsafeMutablePointer<CChar>?]) throws -> Result) rethrows
    -> Result
{
    let strings = texts.map { bytes in strdup((bytes + [0]).map { CChar(bitPattern: $0) }) } + [nil]
    defer { for string in strings { free(string) } }
    return try body(strings)
}

/// Calls a closure with an environment as an array of C strings of the form `NAME=value`.
package func withCStrings<Result>(
    _ environment: [String: String], _ body: ([UnsafeMutablePointer<CChar>?]) throws -> Result
) rethrows -> Result {
    try withCStrings(environment.map { Array("\($0)=\($1)".utf8) }, body)
}
