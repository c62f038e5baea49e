import Foundation

/// A program that does the work of the measures.
struct Contestant {
    let name: String
    /// The command line up to the measure's name. `{database}` stands for the database's path.
    let command: [String]
    /// The database's path follows the measure's name, instead of standing in the command.
    var takesPath = true
    /// Whether it runs in every round; the others run in the first only, to save time.
    var runsInEveryRound = true

    /// Runs one measure in a process of its own.
    func run(_ measure: String, database: String, environment: [String: String]) throws(RunFailure) -> Run {
        try Run(of: arguments(measure, database: database), environment: environment)
    }

    /// The command line for a measure.
    func arguments(_ measure: String, database: String) -> [String] {
        command.map { $0 == "{database}" ? database : $0 } + [measure] + (takesPath ? [database] : [])
    }
}

/// Why a process gave no samples.
enum RunFailure: Error {
    /// Something that it needs is not installed; the text says how to get it.
    case missing(String)
    case failed(String)
}

/// What a process reported, in the lines that scripts/benchmarks/timing.lua describes.
struct Run {
    struct Sample {
        var processor: Double
        var wall: Double
    }

    var samples: [Sample] = []
    /// What each repetition computed, to see that all contestants did the same work.
    var outcomes: Set<String> = []
    var values: [String: Double] = [:]

    /// The exit code by which a contestant says that something is not installed.
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

    /// Standard error goes to a file, so that neither pipe can fill while the other is read.
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
            return (String(decoding: data, as: UTF8.self), String(decoding: errors, as: UTF8.self),
                process.terminationStatus)
        } catch {
            throw .failed("\(arguments.joined(separator: " ")): \(error)")
        }
    }
}
