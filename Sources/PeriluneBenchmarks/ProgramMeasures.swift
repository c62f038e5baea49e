import CPeriluneBenchmarks
import Foundation

/// Small programs as people write them, as whole processes: in Lua with Perilune, in Lua with lsqlite3, and in Python with sqlite3.
///
/// The programs are in `scripts/benchmarks/programs`. All three must print the same.
struct ProgramMeasures {
    let scripts: String
    let perilune: String
    let environment: [String: String]
    /// A temporary folder for the files that the programs read.
    let folder: URL
    var problems = Problems()

    private static let count = 20
    private static let target = 1.25
    private static let programs = [
        ("totals", nil), ("words", "text.txt"), ("readings", "readings.csv"), ("invoices", nil), ("archive", nil),
    ]
    private static let contestants = ["Perilune", "lua5.4 with lsqlite3", "Python"]

    mutating func run() {
        do throws(RunFailure) {
            _ = try Run.capture(["lua5.4", "\(scripts)/programs/texts.lua", folder.path], environment)
        } catch {
            return problems.note(error, contestant: "lua5.4", measure: "programs")
        }
        print("Whole programs, \(Self.count) times by turns; least processor time and median elapsed time in milliseconds:")
        for (name, file) in Self.programs {
            measure(name, [file.map { folder.appendingPathComponent($0).path }].compactMap { $0 })
        }
    }

    private mutating func measure(_ name: String, _ arguments: [String]) {
        let path = "\(scripts)/programs/\(name)"
        let commands = [[perilune, "run", "\(path)_perilune.lua"], ["lua5.4", "\(path).lua"], ["python3", "\(path).py"]]
            .map { $0 + arguments }
        var outputs: [String] = []
        for (index, command) in commands.enumerated() {
            do throws(RunFailure) {
                let (output, errors, code) = try Run.capture(command, environment)
                guard code == 0 else { throw RunFailure.failed(errors) }
                outputs.append(output)
            } catch {
                return problems.note(error, contestant: Self.contestants[index], measure: name)
            }
        }
        guard Set(outputs).count == 1 else {
            return problems.note(.failed("prints something else"), contestant: Self.contestants[0], measure: name)
        }
        var times: [[perilune_process_time]] = [[], [], []]
        for _ in 0..<Self.count {
            for (index, command) in commands.enumerated() { times[index].append(perilune_process_time(of: command)) }
        }
        report(
            name, processor: times.map { $0.map(\.processor).min()! }, wall: times.map { $0.map(\.wall).sorted()[Self.count / 2] }
        )
    }

    private func report(_ name: String, processor: [Double], wall: [Double]) {
        let ratio = wall[0] / wall[1]
        let mark = ratio > Self.target ? "✗" : "✓"
        print(
            "    \(name.padded(to: 12))"
                + String(
                    format:
                        "perilune %5.1f %5.1f   lua5.4 %5.1f %5.1f   Python %5.1f %5.1f   elapsed, × lua5.4: %.2f %@ (≤ %.2f)",
                    processor[0] * 1e3, wall[0] * 1e3, processor[1] * 1e3, wall[1] * 1e3, processor[2] * 1e3, wall[2] * 1e3,
                    ratio,
                    mark, Self.target))
    }
}

extension perilune_process_time {
    /// Runs a command until it exits. Both times are -1 if it cannot be started or fails.
    init(of command: [String]) {
        var arguments: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        self = perilune_time_process(&arguments)
    }
}
