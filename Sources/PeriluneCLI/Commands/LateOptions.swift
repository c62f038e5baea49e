/// Options of `perilune run` that are passed to the script because they follow its first argument. For example,
/// `run close.lua 2026-03 --preview` makes no preview, and the script changes the database. A note on standard error reports the options
/// that select the database or protect data.
struct LateOptions {
    private let file: String
    private let argument: String
    private let names: [String]

    /// - Parameters:
    ///   - words: The arguments after `run`.
    ///   - hasDatabase: Whether the run has been given a database, or needs none.
    ///   - given: The protective options that the run has.
    /// - Returns: `nil` if there is nothing to report.
    init?(_ words: [String], hasDatabase: Bool, given: Set<String> = []) {
        guard let late = RunArguments.lateOptions(in: words) else { return nil }
        names = Self.reported.filter { name in
            late.names.contains(name) && !given.contains(name) && (name != "--database" || !hasDatabase)
        }
        (file, argument) = (late.file, late.argument)
        if names.isEmpty { return nil }
    }

    private static let reported = ["--database", "--preview", "--readonly", "--sandbox"]

    func note(_ colors: Colors) {
        CommandOutput.note(text, colors)
    }

    var text: String {
        let (verb, pronoun) = names.count == 1 ? ("is", "it") : ("are", "them")
        return
            "\(names.joined(separator: " and ")) \(verb) passed to the script, after its argument \(argument); put \(pronoun) before "
            + "\(file) for `perilune run`, or `--` after \(file) for the script"
    }
}
