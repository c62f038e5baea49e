import Foundation

/// What a script in Python measures and shows.
struct ScriptedMeasures {
    /// What the failure to run it is called by.
    let title: String
    let script: String
    let scripts: String
    /// The folder of the built programs.
    let programs: URL

    /// Test scenarios against the same tests by other runners.
    static func scenarios(scripts: String, programs: URL) -> ScriptedMeasures {
        ScriptedMeasures(title: "the scenarios", script: "with_scenarios.py", scripts: scripts, programs: programs)
    }

    /// How what a row costs depends on how many there are.
    static func scale(scripts: String, programs: URL) -> ScriptedMeasures {
        ScriptedMeasures(title: "the scale", script: "with_scale.py", scripts: scripts, programs: programs)
    }

    /// A database in a cluster, whose nodes it starts.
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
