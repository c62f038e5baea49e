/// The order of arguments of `run`.
enum RunArguments {
    /// The long options that take a value.
    static let valued: Set<String> = ["--database", "--timeout", "--memory", "--color", "--error-format"]
    /// The long options that do not.
    static let flags: Set<String> = ["--readonly", "--sandbox", "--trace", "--verbose"]

    /// Moves the options that stand right after the script in front of it, and marks where the script's own arguments
    /// begin: in `run x.lua --database d a --readonly` the last two are the script's.
    ///
    /// - Parameter arguments: What follows `run`.
    static func arranged(_ arguments: [String]) -> [String] {
        guard let file = indexOfFile(in: arguments) else { return arguments }
        var end = file + 1
        while end < arguments.count, let length = optionLength(arguments[end]), end + length <= arguments.count {
            end += length
        }
        let rest = arguments[end...]
        let scriptArguments = rest.first == "--" ? rest.dropFirst() : rest
        return arguments[..<file] + arguments[(file + 1)..<end] + ["--", arguments[file]] + scriptArguments
    }

    /// The place of the first argument that is neither an option nor the value of one; `nil` after a `--`, too.
    private static func indexOfFile(in arguments: [String]) -> Int? {
        var index = 0
        while index < arguments.count {
            let argument = arguments[index]
            if argument == "--" { return nil }
            if valued.contains(argument) || argument == "-e" {
                index += 2
            } else if argument.hasPrefix("-"), argument != "-" {
                index += 1
            } else {
                return index
            }
        }
        return nil
    }

    /// How many arguments a long option takes up, itself included; `nil` if it is none.
    private static func optionLength(_ argument: String) -> Int? {
        if flags.contains(argument) { return 1 }
        if valued.contains(argument) { return 2 }
        guard let equals = argument.firstIndex(of: "=") else { return nil }
        return valued.contains(String(argument[..<equals])) ? 1 : nil
    }
}
