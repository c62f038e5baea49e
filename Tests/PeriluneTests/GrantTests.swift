import Foundation
import PeriluneLua
import PeriluneTestTools
import Testing

@testable import Perilune

/// Tests the grants of hosts and previews against the tables of the Sandbox article.
@Suite struct GrantTests {
    private static func configuration(_ grant: String) -> ScriptHost.Configuration? {
        var configuration = ScriptHost.Configuration(database: .inMemory())
        switch grant {
        case "sandbox": break
        case ".io": configuration.libraries.insert(.io)
        case ".os": configuration.libraries.insert(.os)
        case ".files": configuration.libraries.insert(.files)
        case ".package": configuration.libraries.insert(.package)
        case ".debug": configuration.libraries.insert(.debug)
        case ".bytecode": configuration.libraries.insert(.bytecode)
        case ".trusted": configuration.libraries = .trusted
        case "allowsFiles": configuration.allowsFiles = true
        default: return nil
        }
        return configuration
    }

    private func has(_ capability: String, _ host: ScriptHost, in folder: String) async throws -> Bool {
        try GrantTable.prepare(folder)
        let script = try #require(GrantTable.script(using: capability, in: folder), "no script for \(capability)")
        let isGiven: Bool = try await host.run(source: script)
        return isGiven
    }

    @Test func `each grant of a host allows the documented capabilities, and isolated hosts refuse every grant`() async throws {
        let table = try #require(GrantTable(firstGrant: "sandbox"))
        try await withTemporaryFolder { folder in
            for (column, grant) in table.grants.enumerated() {
                let configuration = try #require(Self.configuration(grant), "no configuration for \(grant)")
                let host = try await ScriptHost(configuration)
                for row in table.rows {
                    let isGiven = try await has(row.capability, host, in: folder)
                    #expect(isGiven == row.isGiven[column], "\(grant): \(row.capability)")
                }
                if column > 0 { #expect(throws: LuaError.self, "\(grant)") { try configuration.checkIsolation() } }
            }
        }
    }

    @Test(arguments: [false, true]) func `a preview refuses effects, or allows the documented ones`(isAllowed: Bool)
        async throws
    {
        let grant = isAllowed ? "--allow-effects" : "withheld"
        let table = try #require(GrantTable(firstGrant: "withheld"))
        let column = try #require(table.grants.firstIndex(of: grant))
        try await withTemporaryFolder { folder in
            var configuration = ScriptHost.Configuration()
            configuration.libraries = .trusted
            configuration.allowsFiles = true
            let preview = try await ScriptPreview(of: .inMemory(), configuration: configuration, allowsEffects: isAllowed)
            for row in table.rows {
                let isGiven = try await has(row.capability, preview.host, in: folder)
                #expect(isGiven == row.isGiven[column], "\(grant): \(row.capability)")
            }
            let warnings = try await preview.finish().report.warnings
            #expect(warnings.contains { $0.contains("native modules were loaded") } == isAllowed)
        }
    }
}
