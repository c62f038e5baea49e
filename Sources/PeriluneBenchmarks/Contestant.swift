import Foundation

/// A program that takes part in the benchmarks.
struct Contestant {
    let name: String
    /// The command line before the name of the measure. `{database}` is replaced by the path of the database.
    let command: [String]
    /// Whether the database path follows the name of the measure instead of being part of the command.
    var takesPath = true
    /// Whether the contestant runs in every round, and not only in the first one, which saves time.
    var runsInEveryRound = true

    /// Runs one measure in a new process.
    func run(_ measure: String, database: String, environment: [String: String]) throws(RunFailure) -> Run {
        try Run(of: arguments(measure, database: database), environment: environment)
    }

    /// Returns the command line for a measure.
    func arguments(_ measure: String, database: String) -> [String] {
        command.map { $0 == "{database}" ? database : $0 } + [measure] + (takesPath ? [database] : [])
    }
}

/// The reason why a process returned no samples.
enum RunFailure: Error {
    /// A requirement is not installed; the text explains how to install it.
    case missing(String)
    case failed(String)
}

/// The results reported by a process, in the line format described in scripts/benchmarks/timing.lua.
struct Run {
    struct Sample {
        var processor: Double
        var wall: Double
    }

    var samples: [Sample] = []
    /// The results computed by the repetitions, which must be equal for all contestants.
    var outcomes: Set<String> = []
    var values: [String: Double] = [:]

    /// The exit status of a contestant whose requirements are not installed.
    private static let missingCode: Int32 = 77

    init(of arguments: [String], environment: [String: String]) throws(RunFailure) {
        let (output, errors, code) = try Self.capture(arguments, environment)
        if code == Self.missingCode { throw .missing(errors) }
        guard code == 0 else { throw .failed("\(arguments.joined(separator: " "))\nexit code \(code)\n\(errors)") }
        for line in output.split(separator: "\n") { parse(line) }
        if samples.isEmpty { throw .failed("\(arguments.joined(separator: " "))\nno samples in its output\n\(errors)") }
    }

    private mutating func parse(_ line: Substring) {
        let fields = line.split(separator: "\t").map(String.init)
        switch fields.first {
        case "sample" where fields.count == 4:
            guard let processor = Double(fields[1]), let wall = Double(fields[2]) else { return }
            samples.append(Sample(processor: processor, wall: wall))
            outcomes.insert(fields[3])
        case "value" where fields.count == 3:
            values[fields[1]] = Double(fields[2])
        default:
            break
        }
    }

    /// Runs a process and captures its output. Standard error goes to a file, because a second pipe could fill up while the first one is
    /// being read.
    static func capture(
        _ arguments: [String], _ environment: [String: String]
    ) throws(RunFailure) -> (output: String, errors: String, code: Int32) {
        let errorFile = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: errorFile) }
        do {
            try Data().write(to: errorFile)
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = arguments
            process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
            let output = Pipe()
            process.standardOutput = output
            process.standardError = try FileHandle(forWritingTo: errorFile)
            try process.run()
            let data = try output.fileHandleForReading.readToEnd() ?? Data()
            process.waitUntilExit()
            let errors = try Data(contentsOf: errorFile)
            return (
                String(decoding: data, as: UTF8.self), String(decoding: errors, as: UTF8.self),
                process.terminationStatus
            )
        } catch {
            throw .failed("\(arguments.joined(separator: " ")): \(error)")
        }
    }
}
