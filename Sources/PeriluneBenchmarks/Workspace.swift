import Foundation

/// The temporary folder with the databases that the contestants use.
struct Workspace {
    let folder: URL
    let environment: [String: String]

    init(scripts: String) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("perilune-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        environment = ["LUA_PATH": "\(scripts)/?.lua;;", "PYTHONDONTWRITEBYTECODE": "1"]
    }

    func path(for database: Measure.Database) -> String {
        switch database {
        case .products: folder.appendingPathComponent("products.sqlite").path
        case .emptyFile: folder.appendingPathComponent("sales.sqlite").path
        case .memory: ":memory:"
        case .chinook: Self.chinook ?? ""
        }
    }

    /// The path of the Chinook database, from the variable `CHINOOK` or next to the package; `nil` if the file does not exist.
    static let chinook: String? = {
        let named = ProcessInfo.processInfo.environment["CHINOOK"] ?? "../shared/data/chinook.sqlite"
        return FileManager.default.fileExists(atPath: named) ? named : nil
    }()

    func has(_ database: Measure.Database) -> Bool {
        database != .chinook || Self.chinook != nil
    }

    /// Creates the database of products with the C baseline.
    func createProducts(scripts: String, program: String, share: Double = 1) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = ["--reference", "\(scripts)/reference.lua", "create", path(for: .products)]
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
            .merging(["BENCHMARK_SHARE": "\(share)"]) { $1 }
        try process.run()
        process.waitUntilExit()
        if process.terminationStatus != 0 { throw RunFailure.failed("the reference made no database") }
    }

    func remove() {
        try? FileManager.default.removeItem(at: folder)
    }
}
