internal import Perilune
internal import PeriluneRecords

/// Options of `perilune run` that follow the first argument of its script, and would therefore be passed to the script. For example,
/// `run close.lua 2026-03 --preview` would make no preview, and change the database. Such a command line is refused; `--` after the
/// script's path passes all words to the script.
struct LateOptions {
    private let command: String
    private let file: String
    private let argument: String
    private let names: [String]
    /// The option that is meant by the only name, if it is misspelled.
    private let meant: String?

    /// - Parameter arguments: The arguments of `perilune`.
    /// - Returns: `nil` if there is nothing to refuse.
    init?(_ arguments: [String]) {
        guard let command = arguments.first, ["run", "watch"].contains(command),
            let late = RunArguments.lateWords(in: Array(arguments.dropFirst()))
        else { return nil }
        let found = late.words.compactMap { word in Self.option(meantBy: word).map { (name: word, meant: $0) } }
        guard let first = found.first else { return nil }
        names = found.reduce(into: []) { names, option in if !names.contains(option.name) { names.append(option.name) } }
        meant = names.count == 1 && first.meant != first.name ? first.meant : nil
        (self.command, file, argument) = (command, late.file, late.argument)
    }

    /// Returns the option that a word is, or is probably meant to be.
    private static func option(meantBy word: String) -> String? {
        let options = RunArguments.valued.union(RunArguments.flags)
        if options.contains(word) { return word }
        if let use = OtherNames.option(word, of: "run"), options.contains(use) { return use }
        // Short names resemble too many others: `--batch` is not `--watch`.
        let names = options.map { $0.dropFirst(2) }.filter { $0.count >= 6 }.map(String.init).sorted()
        return nearestName(to: String(word.dropFirst(2)), among: names).map { "--" + $0 }
    }

    var report: ErrorReport {
        let (verb, pronoun, subject) = names.count == 1 ? ("comes", "it", "it is") : ("come", "them", "they are")
        var report = ErrorReport(
            "\(names.joined(separator: " and ")) \(verb) after the script's argument \(argument), "
                + "so `perilune \(command)` would pass \(pronoun) to the script",
            kind: "usage")
        report.help =
            (meant.map { "did you mean `\($0)`? " } ?? "")
            + "put \(pronoun) before \(file); or, if \(subject) meant for the script, put `--` after \(file)"
        return report
    }
}
