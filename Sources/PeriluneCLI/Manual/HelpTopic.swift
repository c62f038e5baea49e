internal import Foundation
internal import Perilune
internal import PeriluneBindings
internal import PeriluneLua
internal import PeriluneRecords
internal import PeriluneScenarios

/// `perilune help NAME`: the reference text of a function, class, field or page.
struct HelpTopic {
    /// The option of `help` that disables the pager.
    static let noPager = "--no-pager"
    private let name: String

    /// Prints the reference text if the arguments request it.
    ///
    /// - Returns: Whether text was printed. The argument parser handles help on commands and help without a name.
    /// - Throws: ``CommandFailure`` with the nearest name if the name is unknown.
    static func write(for arguments: [String], isPaged: Bool, commands: [String]) throws -> Bool {
        guard arguments.count == 2, arguments[0] == "help", let name = arguments.last, !name.hasPrefix("-"), !commands.contains(name)
        else { return false }
        let text = try HelpTopic(name: name).text(commands: commands)
        try Pager.paging(if: isPaged) {
            try StandardStreams.write(text)
            try StandardStreams.flush()
        }
        return true
    }

    /// Returns the reference text of a name.
    ///
    /// - Throws: ``CommandFailure`` with the nearest name if the name is unknown.
    static func text(of name: String, commands: [String]) throws -> [UInt8] {
        try HelpTopic(name: name).text(commands: commands)
    }

    /// All names with a text in the reference.
    static let names: [String] = {
        // For an unknown name, the reference returns the list of all names.
        guard let state = try? LibraryModules.referenceState() else { return [] }
        defer { state.close() }
        guard let answer = try? ask("\0", [], in: state), let names = answer.last else { return [] }
        return (try? [String].fromLua(names)) ?? []
    }()

    private static func ask(_ name: String, _ commands: [String], in state: LuaState) throws -> [LuaValue] {
        try state.load(question, named: "help").call([.string(LuaString(name)), commands.toLua(in: state)])
    }

    private func text(commands: [String]) throws -> [UInt8] {
        let state = try LibraryModules.referenceState()
        defer { state.close() }
        let answer = try Self.ask(name, commands, in: state)
        if case .string(let text)? = answer.first { return text.bytes }
        throw CommandFailure(report(among: commands + (try answer.last.map { try [String].fromLua($0) } ?? [])))
    }

    private static let question = """
        local name, commands = ...
        local reference, help = require "reference", require "reference.help"
        local index = reference.read(source)
        if name == "topics" then return help.topics(index, commands) end
        return help.text(index, name)
        """

    private func report(among names: [String]) -> ErrorReport {
        var report = ErrorReport("no help on \(name)", kind: "usage")
        report.suggest(
            name, among: names,
            otherwise: "`perilune help topics` lists the pages of the reference, `perilune help` the commands")
        return report
    }
}
