import Foundation

/// Test scenarios against the same tests by other runners: done and shown by a script.
struct ScenarioMeasures {
    let scripts: String
    /// The folder of the built programs.
    let programs: URL

    func run() throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", "\(scripts)/with_scenarios.py", programs.appendingPathComponent("perilune").path]
        try process.run()
        process.waitUntilExit()
        if process.terminationStatus != 0 { throw RunFailure.failed("the scenarios could not be measured") }
    }
}
