/// How often lines of Lua have run.
public struct LineCoverage: Sendable {
    /// By file, then by line: 0 for lines that could have run.
    public internal(set) var files: [String: [Int: Int]] = [:]
}
