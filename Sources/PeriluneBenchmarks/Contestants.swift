import Foundation

/// Who takes part.
struct Contestants {
    static let perilune = "Perilune"
    static let reference = "C"
    static let luaSQL = "LuaSQL"

    let ours: Contestant
    let reference: Contestant
    let peers: [Contestant]

    /// - Parameters:
    ///   - scripts: The folder `scripts/benchmarks`.
    ///   - programs: The folder of the built programs.
    init(scripts: String, programs: URL) {
        let perilune = programs.appendingPathComponent("perilune").path
        let benchmarks = programs.appendingPathComponent("PeriluneBenchmarks").path
        ours = Contestant(
            name: Self.perilune,
            command: [perilune, "run", "--database", "{database}", "\(scripts)/with_perilune.lua"], takesPath: false)
        reference = Contestant(
            name: Self.reference, command: [benchmarks, "--reference", "\(scripts)/reference.lua"])
        peers = [
            Contestant(name: Self.luaSQL, command: ["lua5.4", "\(scripts)/with_luasql.lua"]),
            Contestant(
                name: "Python", command: ["python3", "\(scripts)/with_python.py"], runsInEveryRound: false),
            Contestant(
                name: "peewee", command: ["python3", "\(scripts)/with_peewee.py"], runsInEveryRound: false),
        ]
    }

    /// Ours and C first, next to each other, so that both meet the same weather on the machine.
    func taking(part measure: Measure) -> [Contestant] {
        [ours, reference] + (measure.hasPeers ? peers : [])
    }
}
