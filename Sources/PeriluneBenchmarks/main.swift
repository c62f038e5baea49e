// Compares the speed of Perilune with handwritten C and other programs; scripts/bench builds and runs it.
//
//   PeriluneBenchmarks SCRIPTS [FILTER]               run the measures whose names contain the filter
//   PeriluneBenchmarks SCRIPTS instructions [FILTER]  count instructions instead of measuring time
//   PeriluneBenchmarks SCRIPTS --report               run the measures of the README's table, and update it
//   PeriluneBenchmarks --reference FILE ARGUMENTS     run a Lua file with the C baseline
//   PeriluneBenchmarks --grdb MEASURE DATABASE        run a measure with GRDB's query interface
import CPeriluneBenchmarks
import Foundation

/// Counts the instructions of all measures whose names contain the filter. Returns an exit code.
func countInstructions(scripts: String, filter: String) throws -> Int32 {
    let program = URL(fileURLWithPath: CommandLine.arguments[0])
    let workspace = try Workspace(scripts: scripts)
    defer { workspace.remove() }
    let measures = try InstructionMeasures(scripts: scripts, programs: program.deletingLastPathComponent(), workspace: workspace)
    try workspace.createProducts(scripts: scripts, program: program.path, share: InstructionMeasures.share)
    print("Instructions for each row or call.\n")
    for list in Measure.all { measures.report(list.filter { filter.isEmpty || $0.name.contains(filter) }) }
    return 0
}

/// Runs all comparisons whose names contain the filter, and optionally writes the README's table. Returns an exit code.
func compare(scripts: String, filter: String, writesReport: Bool = false) async throws -> Int32 {
    let rounds = 5
    let program = URL(fileURLWithPath: CommandLine.arguments[0])
    let programs = program.deletingLastPathComponent()
    let workspace = try Workspace(scripts: scripts)
    defer { workspace.remove() }
    func isWanted(_ name: String) -> Bool { filter.isEmpty || name.contains(filter) }

    var comparison = Comparison(
        contestants: Contestants(scripts: scripts, programs: programs), workspace: workspace, rounds: rounds)
    let lists = Measure.all.map { $0.filter { isWanted($0.name) } }
    if !lists.joined().isEmpty {
        try workspace.createProducts(scripts: scripts, program: program.path)
        comparison.run(Array(lists.joined()))
        print("Processor time for each row or call, the least of \(rounds) rounds of three; Perilune and the other by turns.")
        print("Python's and GRDB's run in the first round only. wall: the ratio of elapsed times.")
        print("cold: the ratio of the first repetitions in fresh processes. ✗: over the target.\n")
        for list in lists { comparison.report(list) }
        comparison.reportBusyness()
    }
    if writesReport {
        try SpeedReport(comparison).write()
        return comparison.problems.failures.isEmpty ? 0 : 1
    }

    var luaItself = LuaItself(
        scripts: scripts, perilune: programs.appendingPathComponent("perilune").path, benchmarks: program.path,
        environment: workspace.environment, folder: workspace.folder, rounds: rounds)
    print("")
    if isWanted("start") { luaItself.measureStart() }
    if isWanted("processor") { luaItself.measureProcessor() }
    if isWanted("iteration") { luaItself.measureIteration() }
    var programMeasures = ProgramMeasures(
        scripts: scripts, perilune: programs.appendingPathComponent("perilune").path, environment: workspace.environment,
        folder: workspace.folder)
    if isWanted("programs") { programMeasures.run() }
    if isWanted("observation") { try await ObservationMeasures(rounds: rounds, folder: workspace.folder).run() }
    if isWanted("sets") { try await SetMeasures(rounds: rounds, folder: workspace.folder).run() }
    if isWanted("scenarios") { try ScriptedMeasures.scenarios(scripts: scripts, programs: programs).run() }
    if isWanted("scale") { try ScriptedMeasures.scale(scripts: scripts, programs: programs).run() }
    // Runs only on request, because dqlite's nodes are not installed everywhere.
    if filter == "cluster" { try ScriptedMeasures.cluster(scripts: scripts, programs: programs).run() }
    if isWanted("isolation") { try await IsolationMeasures(rounds: max(rounds, 3), folder: workspace.folder).run() }
    if isWanted("tenants") { try await TenantMeasures(folder: workspace.folder).run() }
    if isWanted("host") { try await HostMeasures(rounds: rounds, folder: workspace.folder).run() }

    let failures = comparison.problems.failures + luaItself.problems.failures + programMeasures.problems.failures
    for failure in failures { FileHandle.standardError.write(Data("failed: \(failure)\n".utf8)) }
    return failures.isEmpty ? 0 : 1
}

let arguments = Array(CommandLine.arguments.dropFirst())
if arguments.first == "--reference" {
    var pointers = arguments.dropFirst().map { UnsafePointer<CChar>(strdup($0)) }
    exit(perilune_run_reference(Int32(pointers.count), &pointers))
}
if arguments.first == "--grdb", arguments.count == 3 {
    exit(try GRDBWork(path: arguments[2]).run(arguments[1]))
}
guard let scripts = arguments.first else {
    FileHandle.standardError.write(Data("usage: PeriluneBenchmarks SCRIPTS [FILTER]; run scripts/bench\n".utf8))
    exit(2)
}
let filter = arguments.count > 1 ? arguments[1] : ""
switch filter {
case "instructions": exit(try countInstructions(scripts: scripts, filter: arguments.count > 2 ? arguments[2] : ""))
case "--report": exit(try await compare(scripts: scripts, filter: "", writesReport: true))
default: exit(try await compare(scripts: scripts, filter: filter))
}
