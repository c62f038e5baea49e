/// A parser that separates the options of `perilune run` from the arguments of its script.
enum RunArguments {
    /// The long options that take a value.
    static let valued: Set<String> = [
        "--database", "--timeout", "--memory", "--output", "--disk", "--color", "--error-format", "--trace", "--slow", "--save",
        "--rows",
        "--format", "--context", "--report", "--extension", "--require-layers",
    ]
    /// The long options without a value.
    static let flags: Set<String> = [
        "--readonly", "--sandbox", "--verbose", "--trace-values", "--preview", "--check", "--allow-effects",
        "--create", "--watch", "--isolate", "--no-isolate", "--no-database", "--deterministic",
    ]

    /// Moves the options that follow the script's path in front of it, and inserts `--` before the script's own arguments:
    /// in `run x.lua --database d a --readonly`, the last two belong to the script.
    ///
    /// An unknown option directly after the path, such as a misspelled `--databse`, is moved as well, and the argument parser refuses it.
    /// Otherwise, the script would run on an empty database and appear to succeed.
    ///
    /// - Parameter arguments: The arguments after `run`.
    static func arranged(_ arguments: [String]) -> [String] {
        guard let file = indexOfFile(in: arguments) else { return completed(arguments) }
        let end = endOfOptions(in: arguments, after: file)
        let rest = arguments[end...]
        let scriptArguments = rest.first == "--" ? rest.dropFirst() : rest
        return completed(Array(arguments[..<file] + arguments[(file + 1)..<end])) + ["--", arguments[file]]
            + scriptArguments
    }

    /// Returns an unknown option directly after the script's path, or `nil`.
    ///
    /// - Parameter arguments: The arguments after `run`.
    static func unknownOption(in arguments: [String]) -> String? {
        guard let file = indexOfFile(in: arguments) else { return nil }
        let last = arguments[(file + 1)..<endOfOptions(in: arguments, after: file)].last
        return last.flatMap { isLongOption($0) && optionLength([$0], at: 0) == nil ? $0 : nil }
    }

    /// Returns the names of the long options that are passed to the script because they follow its first argument.
    ///
    /// - Parameter arguments: The arguments after `run`.
    /// - Returns: The script's path, its first argument, and the names; `nil` without such options, or if `--` precedes them.
    static func lateWords(in arguments: [String]) -> (file: String, argument: String, words: [String])? {
        guard let file = indexOfFile(in: arguments) else { return nil }
        let rest = arguments[endOfOptions(in: arguments, after: file)...]
        guard let argument = rest.first, argument != "--" else { return nil }
        let words = rest.dropFirst().prefix { $0 != "--" }.filter(isLongOption).map { String($0.prefix { $0 != "=" }) }
        return words.isEmpty ? nil : (arguments[file], argument, words)
    }

    /// Returns the arguments that may be options of the command itself, without the arguments of a script.
    static func options(in arguments: [String]) -> [String] {
        let own = arguments.first == "run" ? arranged(Array(arguments.dropFirst())) : arguments
        return Array(own.prefix { $0 != "--" })
    }

    /// Returns the index of the first argument that is neither an option nor the value of one; `nil` if `--` precedes it.
    private static func indexOfFile(in arguments: [String]) -> Int? {
        var index = 0
        while index < arguments.count {
            let argument = arguments[index]
            if argument == "--" { return nil }
            if argument == "-e" {
                index += 2
            } else if argument.hasPrefix("-"), argument != "-" {
                index += optionLength(arguments, at: index) ?? 1
            } else {
                return index
            }
        }
        return nil
    }

    /// Returns the index after the options that directly follow the script's path.
    private static func endOfOptions(in arguments: [String], after file: Int) -> Int {
        var end = file + 1
        while end < arguments.count, isLongOption(arguments[end]) {
            guard let length = optionLength(arguments, at: end), end + length <= arguments.count else { return end + 1 }
            end += length
        }
        return end
    }

    private static func isLongOption(_ argument: String) -> Bool {
        argument.hasPrefix("--") && argument.dropFirst(2).first?.isLetter == true
    }

    /// Returns the number of arguments of a long option, including its name; `nil` if it is not a long option.
    private static func optionLength(_ arguments: [String], at index: Int) -> Int? {
        let argument = arguments[index]
        if flags.contains(argument) { return 1 }
        if argument == "--trace" { return hasTraceDetail(arguments, after: index) ? 2 : 1 }
        if valued.contains(argument) { return 2 }
        guard let equals = argument.firstIndex(of: "=") else { return nil }
        return valued.contains(String(argument[..<equals])) ? 1 : nil
    }

    // MARK: - The optional value of --trace

    private static func hasTraceDetail(_ arguments: [String], after index: Int) -> Bool {
        index + 1 < arguments.count && TraceDetail(rawValue: arguments[index + 1]) != nil
    }

    /// Adds the default value to each `--trace` without a value.
    private static func completed(_ arguments: [String]) -> [String] {
        var result: [String] = []
        var isValue = false
        for (index, argument) in arguments.enumerated() {
            if argument == "--" { return result + arguments[index...] }
            let isBare = argument == "--trace" && !isValue && !hasTraceDetail(arguments, after: index)
            result.append(isBare ? "--trace=\(TraceDetail.statements)" : argument)
            isValue = !isValue && (argument == "-e" || valued.contains(argument)) && !isBare
        }
        return result
    }
}
