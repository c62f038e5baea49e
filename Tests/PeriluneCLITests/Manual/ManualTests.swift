import Foundation
import PeriluneTestTools
import Testing

@testable import PeriluneCLI

/// The manual pages, which are generated from the commands.
@Suite(.patience, .startsPrograms) struct ManualTests {
    @Test func `every command has a page with the contents of its help`() throws {
        let commands = try CommandDescription.read(PeriluneCommand.self).all
        let names = commands.map { ManualPage(command: $0).name }
        #expect(
            Set(["perilune", "perilune-run", "perilune-migrate-new", "perilune-automations-trace", "perilune-chart"]).isSubset(
                of: names), "\(names)")
        for command in commands {
            let page = ManualPage(command: command).text
            for argument in command.arguments ?? [] where argument.shouldDisplay {
                for name in argument.names ?? [] {
                    #expect(page.contains(ManualPage.escaped(name.text)), "\(name.text) is missing in \(page)")
                }
            }
            #expect(page.contains("\n.SH NAME\n") && page.contains("\n.SH SYNOPSIS\n"), "\(page)")
        }
    }

    @Test func `sections of the help become sections of the page, and examples are unchanged`() throws {
        let run = try #require(CommandDescription.read(PeriluneCommand.self).all.first { $0.words == ["perilune", "run"] })
        let page = ManualPage(command: run).text
        for section in ["DESCRIPTION", "EXAMPLES", "PREVIEW", "TRACE", "EXIT STATUS", "ARGUMENTS", "OPTIONS", "SEE ALSO"] {
            #expect(page.components(separatedBy: "\n.SH \(section)\n").count == 2, "\(section) in \(page)")
        }
        #expect(page.contains(".RS 2\n.nf\nperilune run report.lua \\-\\-database shop.sqlite 2026\\-03\n"), "\(page)")
        #expect(page.contains(".TP\n\\fB\\-\\-timeout\\fR \\fItime\\fR\n"), "\(page)")
    }

    @Test func `no line of a page is interpreted as a roff request`() throws {
        let requests = try Regex(#"^\.(TH|SH|TP|PP|RS|RE|nf|fi|B|BR)( |$)"#)
        for command in try CommandDescription.read(PeriluneCommand.self).all {
            for line in ManualPage(command: command).text.split(separator: "\n") where line.hasPrefix(".") || line.hasPrefix("'")
            {
                #expect(try requests.prefixMatch(in: line) != nil, "\(command.words): \(line)")
            }
        }
    }

    @Test func `the pages are written to a folder`() throws {
        let folder = try TestFolder()
        #expect(try folder.perilune("manual", "man/man1").status == 0)
        #expect(folder.exists("man/man1/perilune.1") && folder.exists("man/man1/perilune-automations-list.1"))
    }
}
