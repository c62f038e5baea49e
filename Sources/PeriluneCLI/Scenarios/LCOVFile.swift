internal import Foundation
internal import PeriluneScenarios

/// Line coverage in lcov format.
///
/// - SeeAlso: geninfo(1), "TRACEFILE FORMAT".
struct LCOVFile {
    private let coverage: LineCoverage

    init(_ coverage: LineCoverage) {
        self.coverage = coverage
    }

    var text: String {
        var lines: [String] = []
        for file in coverage.files.keys.sorted() {
            let counts = coverage.files[file]!
            let path = file.hasPrefix("/") ? file : FileManager.default.currentDirectoryPath + "/" + file
            lines += ["TN:", "SF:\(path)"]
            lines += counts.keys.sorted().map { "DA:\($0),\(counts[$0]!)" }
            lines += ["LF:\(counts.count)", "LH:\(counts.values.count { $0 > 0 })", "end_of_record"]
        }
        return lines.map { $0 + "\n" }.joined()
    }

    /// - Returns: An error message if writing failed; otherwise `nil`.
    func write(to path: String) -> String? {
        do {
            try Data(text.utf8).write(to: URL(filePath: path))
            return nil
        } catch {
            return "cannot write the coverage file \(path): \(error.localizedDescription)"
        }
    }
}
