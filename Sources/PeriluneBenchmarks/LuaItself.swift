import CPeriluneBenchmarks
import Foundation

/// Benchmarks that do not use the database: the start of a process, and the speed of Lua code.
struct LuaItself {
    let scripts: String
    let perilune: String
    let benchmarks: String
    let environment: [String: String]
    /// A temporary folder.
    let folder: URL
    let rounds: Int
    var problems = Problems()

    private static let startCount = 100
    private static let startTargetInMilliseconds = 8.0
    /// The maximum time of a whole process that uses records, requests and associations for the first time.
    private static let exampleTargetInMilliseconds = 20.0
    private static let processorTarget = 1.05
    /// The maximum ratio of the time with limits, but without an instruction budget, to the time without limits.
    private static let limitsTarget = 1.05
    private static let iterationTarget = 3.0

    /// Measures the time from spawn to exit for an empty script.
    mutating func measureStart() {
        // Copies the program like scripts/install does: the kernel caches a file in small pieces when the linker wrote it, and starts it
        // more slowly.
        let installed = folder.appendingPathComponent("perilune")
        guard (try? FileManager.default.copyItem(at: URL(fileURLWithPath: perilune), to: installed)) != nil else {
            problems.note(.failed("cannot be copied"), contestant: perilune, measure: "start")
            return
        }
        let example = URL(fileURLWithPath: scripts).deletingLastPathComponent().appendingPathComponent("examples/library.lua")
            .path
        let commands = [[installed.path, "run", "-e", ""], ["lua5.4", "-e", ""], [installed.path, "run", example]]
        var times: [[perilune_process_time]] = [[], [], []]
        for _ in 0..<Self.startCount {
            for (index, command) in commands.enumerated() { times[index].append(perilune_process_time(of: command)) }
        }
        for (index, command) in commands.enumerated() where times[index].contains(where: { $0.wall < 0 }) {
            problems.note(.failed("cannot be run, or fails"), contestant: command.joined(separator: " "), measure: "start")
            return
        }
        reportStart(times[0], times[1])
        let wall = Self.ordered(times[2].map(\.wall))[Self.startCount / 2]
        let mark = wall > Self.exampleTargetInMilliseconds ? "✗" : "✓"
        print(
            "    \("the example library.lua".padded(to: 24))"
                + String(format: "perilune %5.1f, elapsed, median %@ (≤ %.0f)", wall, mark, Self.exampleTargetInMilliseconds))
    }

    private func reportStart(_ ours: [perilune_process_time], _ lua: [perilune_process_time]) {
        func row(_ name: String, _ pick: ([perilune_process_time]) -> Double, target: Double? = nil) {
            let difference = pick(ours) - pick(lua)
            let mark = target.map { String(format: " %@ (≤ %.0f)", difference > $0 ? "✗" : "✓", $0) } ?? ""
            print(
                "    \(name.padded(to: 24))"
                    + String(
                        format: "perilune %5.1f   lua5.4 %4.1f   difference %5.1f", pick(ours), pick(lua), difference) + mark)
        }
        print("Start of an empty script, \(Self.startCount) times by turns, in milliseconds:")
        row("elapsed, median", { Self.ordered($0.map(\.wall))[$0.count / 2] }, target: Self.startTargetInMilliseconds)
        row("elapsed, least", { Self.ordered($0.map(\.wall))[0] })
        row("processor time, median", { Self.ordered($0.map(\.processor))[$0.count / 2] })
    }

    private static func ordered(_ seconds: [Double]) -> [Double] { seconds.sorted().map { $0 * 1000 } }

    /// Measures loops over ten keys, in Lua's order and in a deterministic order. The baseline is a plain state on the shared library that
    /// Perilune uses: the program `lua5.4` is faster because Lua is linked into it statically.
    mutating func measureIteration() {
        let file = "\(scripts)/iteration.lua"
        let plain = "a plain state in C on the shared library"
        let commands = [
            (plain, [benchmarks, "--reference", file], nil), ("lua5.4", ["lua5.4", file], nil),
            ("perilune run", [perilune, "run", file], Self.processorTarget),
            ("perilune run --deterministic", [perilune, "run", "--deterministic", file], Self.iterationTarget),
        ]
        var best: [String: Double] = [:]
        for _ in 0..<rounds {
            for (name, command, _) in commands where !problems.hasFailed(name, "iteration") {
                do {
                    let run = try Run(of: command, environment: environment)
                    best[name] = min(best[name] ?? .infinity, run.samples.map(\.processor).min() ?? .infinity)
                } catch {
                    problems.note(error, contestant: name, measure: "iteration")
                }
            }
        }
        guard let base = best[plain] else { return }
        print("Loops over ten keys by pairs and next, × a plain state at \(Int(base * 1000)) ms:")
        for (name, _, target) in commands {
            guard let seconds = best[name] else { continue }
            let mark = target.map { String(format: " %@ (≤ %.2f)", seconds / base > $0 ? "✗" : "✓", $0) } ?? ""
            print("    \(name.padded(to: 42))" + String(format: "%.2f", seconds / base) + mark)
        }
    }

    /// Measures a Lua file that only computes, with each interpreter.
    mutating func measureProcessor() {
        let file = "\(scripts)/processor.lua"
        let unlimited = "perilune run", limited = "perilune run --timeout 60 --memory 512M"
        let commands = [
            (unlimited, [perilune, "run", file]),
            ("lua5.4", ["lua5.4", file]),
            ("a plain state in C on the shared library", [benchmarks, "--reference", file]),
            (limited, [perilune, "run", "--timeout", "60", "--memory", "512M", file]),
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
            let mark = name != unlimited ? "" : seconds / base > Self.processorTarget ? "✗ (about 1)" : "✓ (about 1)"
            print("    \(name.padded(to: 42))" + String(format: "%.2f", seconds / base) + mark)
        }
        guard let free = best[unlimited], let bounded = best[limited] else { return }
        let mark = bounded / free > Self.limitsTarget ? "✗" : "✓"
        print(
            "    limits of time and memory, × none".padded(to: 46)
                + String(format: "%.2f %@ (≤ %.2f)", bounded / free, mark, Self.limitsTarget))
    }
}
