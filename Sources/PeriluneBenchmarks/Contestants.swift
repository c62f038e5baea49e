import Foundation

/// The participants of the benchmarks.
struct Contestants {
    static let lsqlite3 = "lsqlite3"
    static let luaSQL = "LuaSQL"
    static let python = "Python"
    static let peewee = "peewee"
    static let sqlAlchemy = "SQLAlchemy"
    static let grdb = "GRDB"

    private let ours, reference, records: Contestant
    private let peers: [Contestant]

    /// - Parameters:
    ///   - scripts: The folder `scripts/benchmarks`.
    ///   - programs: The folder of the built programs.
    init(scripts: String, programs: URL) {
        let perilune = programs.appendingPathComponent("perilune").path
        let benchmarks = programs.appendingPathComponent("PeriluneBenchmarks").path
        func running(_ script: String) -> Contestant {
            let command = [perilune, "run", "--database", "{database}", "\(scripts)/\(script)"]
            return Contestant(name: "Perilune (\(script))", command: command, takesPath: false)
        }
        ours = running("with_perilune.lua")
        records = running("with_records.lua")
        reference = Contestant(name: "C", command: [benchmarks, "--reference", "\(scripts)/reference.lua"])
        func python(_ name: String, _ script: String) -> Contestant {
            Contestant(name: name, command: ["python3", "\(scripts)/\(script)"], runsInEveryRound: false)
        }
        peers = [
            Contestant(name: Self.lsqlite3, command: ["lua5.4", "\(scripts)/with_lsqlite3.lua"]),
            Contestant(name: Self.luaSQL, command: ["lua5.4", "\(scripts)/with_luasql.lua"]),
            python(Self.python, "with_python.py"),
            python(Self.peewee, "with_peewee.py"),
            python(Self.sqlAlchemy, "with_sqlalchemy.py"),
            Contestant(name: Self.grdb, command: [benchmarks, "--grdb"], runsInEveryRound: false),
        ]
    }

    /// Returns our contestant and its baseline.
    func pair(for measure: Measure) -> (ours: Contestant, baseline: Contestant) {
        (measure.isOfRecords ? records : ours, measure.baseline == .reference ? reference : ours)
    }

    func peers(for measure: Measure) -> [Contestant] {
        peers.filter { measure.peers.contains($0.name) }
    }

    /// Returns all contestants for a measure. Ours and the baseline come first and adjacent, so that they run under similar
    /// conditions.
    func taking(part measure: Measure) -> [Contestant] {
        let (ours, baseline) = pair(for: measure)
        return [ours, baseline] + peers(for: measure)
    }
}
