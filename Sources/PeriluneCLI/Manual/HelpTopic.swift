internal import ArgumentParser
internal import Foundation
internal import Perilune
internal import PeriluneBindings
internal import PeriluneLua
internal import PeriluneRecords
internal import PeriluneScenarios

/// The reference text of a function, class, field or page, which `perilune help NAME` prints; `perilune help --json` prints the whole
/// reference.
struct HelpTopic {
    /// The option of `help` that disables the pager.
    static let noPager = "--no-pager"
    private let name: String

    /// Prints the reference text if the arguments request it.
    ///
    /// - Parameters:
    ///   - commands: The subcommands by name. A command with a page of the same name shows both.
    ///   - help: Returns the help of a subcommand.
    /// - Returns: Whether text was printed. The argument parser handles help on other commands and help without a name.
    /// - Throws: ``CommandFailure`` with the nearest name if the name is unknown.
    static func write(
        for arguments: [String], isPaged: Bool, commands: [String: any ParsableCommand.Type],
        help: (any ParsableCommand.Type) -> String
    ) throws -> Bool {
        guard arguments.count > 1, arguments[0] == "help" else { return false }
        // Topics such as `text tables` have names of several words. Other words after the first name subcommands.
        let name = arguments.dropFirst().joined(separator: " ")
        guard arguments.count == 2 || names.contains(name.lowercased()) else { return false }
        if name == "--json" {
            try StandardStreams.write(answer("json"))
            try StandardStreams.flush()
            return true
        }
        guard !name.hasPrefix("-") else { return false }
        let text: [UInt8]
        if let command = commands[name] {
            let page = try answer("page", name)
            guard !page.isEmpty else { return false }
            text = Array((help(command) + "\n\n").utf8) + page
        } else {
            text = try HelpTopic(name: name).text(commands: Array(commands.keys))
        }
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
        guard let answer = try? ask("text", "\0", in: state), let names = answer.last else { return [] }
        return (try? [String].fromLua(names)) ?? []
    }()

    /// Asks the reference for a text, which may be empty.
    private static func answer(_ kind: String, _ name: String = "") throws -> [UInt8] {
        let state = try LibraryModules.referenceState()
        defer { state.close() }
        guard case .string(let text)? = try ask(kind, name, in: state).first else { return [] }
        return text.bytes
    }

    private static func ask(_ kind: String, _ name: String, in state: LuaState) throws -> [LuaValue] {
        try state.load(question, named: "help").call([.string(LuaString(kind)), .string(LuaString(name))])
    }

    private func text(commands: [String]) throws -> [UInt8] {
        let state = try LibraryModules.referenceState()
        defer { state.close() }
        let answer = try Self.ask("text", name, in: state)
        if case .string(let text)? = answer.first { return text.bytes }
        let names = commands + (try answer.last.map { try [String].fromLua($0) } ?? [])
        throw CommandFailure(report(among: names, replacement: try replacement(in: state)))
    }

    /// Returns what to use in place of a name from another library, such as `perilune.open`; `nil` if none is known.
    private func replacement(in state: LuaState) throws -> String? {
        try state.addModuleResolver { name in
            switch name {
            case "perilune.runtime.other_names":
                LibraryModules.perilune.source(of: name).map { .source(LuaString($0), name: name) }
            // Only functions that raise errors use this module.
            case "perilune.native.errors": .source("return {}", name: name)
            default: nil
            }
        }
        guard case .string(let use)? = try Self.ask("replacement", name, in: state).first else { return nil }
        return use.description
    }

    private static let question = """
        local kind, name = ...
        local reference, help = require "reference", require "reference.help"
        if kind == "replacement" then return help.replacement(require "perilune.runtime.other_names", name) end
        local index = reference.read(source)
        if kind == "json" then return require("reference.data").json(index) end
        if kind == "page" then return help.page(index, name) end
        if name == "topics" then return help.topics(index) end
        return help.text(index, name)
        """

    private func report(among names: [String], replacement: String?) -> ErrorReport {
        var report = ErrorReport("no help on \(name)", kind: "usage")
        if let use = OtherCommands.replacement(for: name) ?? replacement {
            report.help = use
            return report
        }
        // Swift's types begin with a capital letter.
        let pages = "`perilune help topics` lists the pages of the reference, `perilune help` the commands"
        report.suggest(
            name, among: names,
            otherwise: name.first?.isUppercase == true
                ? pages + "; names in Swift are in the documentation that `scripts/docs` builds" : pages)
        return report
    }
}
