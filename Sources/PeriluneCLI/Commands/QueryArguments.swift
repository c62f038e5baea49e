/// Reorders the arguments of `query`.
enum QueryArguments {
    private static let valued: Set<String> = RunArguments.valued.union([
        "-p", "--parameter", "--format", "--output", "--table", "--type", "--title",
    ])

    /// Moves a statement that begins with a comment to the end, so that it is not mistaken for an option.
    ///
    /// - Parameter arguments: The arguments after `query`.
    static func arranged(_ arguments: [String]) -> [String] {
        guard let index = arguments.firstIndex(where: isComment), !arguments.contains("--") else { return arguments }
        // The value of an option may look like a comment, too.
        if index > 0, valued.contains(arguments[index - 1]) { return arguments }
        return arguments[..<index] + arguments[(index + 1)...] + ["--", arguments[index]]
    }

    private static func isComment(_ argument: String) -> Bool {
        argument.hasPrefix("--") && argument.dropFirst(2).first?.isWhitespace == true
    }
}
