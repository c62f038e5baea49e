import Foundation

/// A group of measures that a Python script performs and prints.
struct ScriptedMeasures {
    /// The name of the group in messages about failures.
    let title: String
    let script: String
    let scripts: String
    /// The folder of the built programs.
    let programs: URL

    /// Returns the comparison of test scenarios with the same tests in other test runners.
    static func scenarios(scripts: String, programs: URL) -> ScriptedMeasures {
        ScriptedMeasures(title: "the scenarios", script: "with_scenarios.py", scripts: scripts, programs: programs)
    }

    /// Returns the measures of how the cost per row depends on the number of rows.
    static func scale(scripts: String, programs: URL) -> ScriptedMeasures {
        ScriptedMeasures(title: "the scale", script: "with_scale.py", scripts: scripts, programs: programs)
    }

    /// Returns the measures of a cluster database, whose nodes the script starts.
    static func cluster(scripts: String, programs: URL) -> ScriptedMeasures {
        ScriptedMeasures(title: "the cluster", script: "with_cluster.py", scripts: scripts, programs: programs)
    }

    func run() throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", "\(scripts)/\(script)", programs.appendingPathComponent("perilune").path]
        try process.run()
        process.waitUntilExit()
        if process.terminationStatus != 0 { throw RunFailure.failed("\(title) could not be measured") }
    }
}
