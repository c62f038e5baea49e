/// A rewriter of the `test` options whose values are optional.
enum TestArguments {
    /// Replaces `--bail 3` by `--max-failures=3`, and `--coverage` without a value by `--coverage=lcov`.
    ///
    /// - Parameter arguments: The arguments after `test`.
    static func arranged(_ arguments: [String]) -> [String] {
        let end = arguments.firstIndex(of: "--") ?? arguments.count
        var result: [String] = []
        var index = 0
        while index < end {
            let argument = arguments[index]
            let next = index + 1 < end ? arguments[index + 1] : nil
            index += 1
            if argument == "--bail", let next, isCount(next) {
                result.append("--max-failures=\(next)")
                index += 1
            } else if argument.hasPrefix("--bail=") {
                result.append("--max-failures=\(argument.dropFirst("--bail=".count))")
            } else if argument == "--coverage", let next, otherForms.contains(next) {
                result.append("--coverage=\(next)")
                index += 1
            } else if argument == "--coverage", next.map({ CoverageRequest($0) == nil }) ?? true {
                result.append("--coverage=lcov")
            } else {
                result.append(argument)
            }
        }
        return result + arguments[end...]
    }

    /// Forms of coverage in other programs, which would be taken for paths of scenarios.
    private static let otherForms: Set = ["html", "xml", "json", "term", "text", "cobertura"]

    private static func isCount(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
}
