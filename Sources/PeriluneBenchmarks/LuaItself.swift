import CPeriluneBenchmarks
import Foundation

/// Measures that have to do with Lua and processes only: starting, and Lua that stays away from the database.
struct LuaItself {
    let scripts: String
    let perilune: String
    let benchmarks: String
    let environment: [String: String]
    let rounds: Int
    var problems = Problems()

    private static let startCount = 30
    private static let startTargetInMilliseconds = 15.0
    private static let processorTarget = 1.05

    /// The time from spawning to exit, of an empty script.
    mutating func measureStart() {
        let commands = [[perilune, "run", "-e", ""], ["lua5.4", "-e", ""]]
        var times: [[Double]] = [[], []]
        for _ in 0..<Self.startCount {
            for (index, command) in commands.enumerated() { times[index].append(Self.time(command)) }
        }
        for (index, command) in commands.enumerated() where times[index].contains(where: { $0 < 0 }) {
            problems.note(.failed("cannot be run, or fails"), contestant: command.joined(separator: " "), measure: "start")
            return
        }
        let ordered = times.map { $0.sorted().map { $0 * 1000 } }
        let medians = ordered.map { $0[$0.count / 2] }, least = ordered.map { $0[0] }
        let difference = medians[0] - medians[1]
        let mark = difference > Self.startTargetInMilliseconds ? "✗" : "✓"
        print(String(
            format: "start of an empty script, median (least) of %d: perilune %.1f (%.1f) ms, lua5.4 %.1f (%.1f) ms,",
            Self.startCount, medians[0], least[0], medians[1], least[1]))
        print(String(
            format: "    difference %.1f (%.1f) ms, ≤ %.0f %@", difference, least[0] - least[1],
            Self.startTargetInMilliseconds, mark))
    }

    private static func time(_ command: [String]) -> Double {
        var arguments: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        return perilune_time_process(&arguments)
    }

    /// The same Lua file under each.
    mutating func measureProcessor() {
        let file = "\(scripts)/processor.lua"
        let commands = [
            ("perilune run", [perilune, "run", file]),
            ("lua5.4", ["lua5.4", file]),
            ("a plain state in C on the shared library", [benchmarks, "--reference", file]),
            ("perilune run --timeout 60", [perilune, "run", "--timeout", "60", file]),
        ]
        var best: [String: Double] = [:]
        for _ in 0..<rounds {
            for (name, command) in commands where !problems.hasFailed(name, "processor") {
                do {
                    let run = try Run(of: command, environment: environment)
                    best[name] = min(best[name] ?? .infinity, run.samples.map(\.processor).min() ?? .infinity)
                } catch {
                    problems.note(error, contestant: name, measure: "processor")
                }
            }
        }
        guard let base = best["lua5.4"] else { return }
        print("Lua that computes only (calls, tables, strings), × lua5.4 at \(Int(base * 1000)) ms:")
        for (name, _) in commands {
            guard let seconds = best[name] else { continue }
            let mark = name != "perilune run" ? "" : seconds / base > Self.processorTarget ? "✗ (about 1)" : "✓ (about 1)"
            print("    \(name.padded(to: 42))" + String(format: "%.2f", seconds / base) + mark)
        }
    }
}
