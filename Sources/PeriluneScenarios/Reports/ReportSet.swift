internal import Foundation

/// The reports of a run and their destinations. A report that cannot be written does not stop the others.
package final class ReportSet: @unchecked Sendable {
    /// A request for a report, such as `junit:report.xml`.
    package struct Request: Sendable, Equatable {
        /// The format of the report.
        package var format: ScenarioReportFormat
        /// The path of the file; `nil` for standard output.
        package var path: String?

        /// Creates a request for a report in a file or, without a path, on standard output.
        package init(_ format: ScenarioReportFormat, path: String? = nil) {
            (self.format, self.path) = (format, path)
        }

        /// Parses `FORMAT`, `FORMAT:FILE` or `FILE.html`. The files `-` and
        /// `/dev/stdout` are standard output, which other reports use, too. Returns `nil` for an unknown format.
        package init?(_ text: String) {
            let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard let format = ScenarioReportFormat(rawValue: parts[0]) else {
                guard text.lowercased().hasSuffix(".html") else { return nil }
                self.init(.html, path: text)
                return
            }
            guard parts.count == 1 || !parts[1].isEmpty else { return nil }
            let isOutput = parts.count == 1 || ["-", "/dev/stdout"].contains(parts[1])
            self.init(format, path: isOutput ? nil : parts[1])
        }
    }

    private let lock = NSLock()
    // Guarded by `lock`.
    private let reports: [any ScenarioReport]
    private let sinks: [ReportSink]

    /// - Parameters:
    ///   - style: The style of reports to standard output. Files have no colors.
    ///   - write: Writes to standard output.
    ///   - requests: The requested reports.
    package init(_ requests: [Request], style: ScenarioReportStyle, _ write: @escaping @Sendable (String) throws -> Void) {
        var plain = style
        plain.isColored = false
        let sinks = requests.map { ReportSink(path: $0.path, write) }
        self.sinks = sinks
        reports = zip(requests, sinks).map { request, sink in
            request.format.makeReport(request.path == nil ? style : plain) { sink.write($0) }
        }
    }

    /// Passes an event to all reports.
    package func receive(_ event: ScenarioEvent) {
        lock.withLock {
            for report in reports { report.receive(event) }
            guard case .ended = event else { return }
            for sink in sinks { sink.close() }
        }
    }

    /// Messages about reports that could not be written.
    package var failures: [String] {
        lock.withLock { sinks.compactMap(\.failure) }
    }
}

/// The destination of a report.
private final class ReportSink {
    private let path: String?
    private let output: (String) throws -> Void
    private var file: FileHandle?
    /// The first failure, after which nothing more is written.
    private(set) var failure: String?

    init(path: String?, _ output: @escaping (String) throws -> Void) {
        (self.path, self.output) = (path, output)
        guard let path else { return }
        let folder = URL(filePath: path).deletingLastPathComponent()
        // If the folder cannot be created, opening the file fails, too, and `open` reports the reason.
        try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        if descriptor < 0 {
            fail(String(cString: strerror(errno)))
        } else {
            file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        }
    }

    func write(_ text: String) {
        guard failure == nil else { return }
        do {
            if let file { try file.write(contentsOf: Data(text.utf8)) } else { try output(text) }
        } catch {
            fail(Self.reason(error))
        }
    }

    func close() {
        guard failure == nil, let file else { return }
        do { try file.close() } catch { fail(Self.reason(error)) }
    }

    private func fail(_ reason: String) {
        failure = "the report \(path ?? "to standard output") cannot be written: \(reason)"
    }

    private static func reason(_ error: any Error) -> String {
        let error = error as NSError
        let system = error.domain == NSPOSIXErrorDomain ? error : error.userInfo[NSUnderlyingErrorKey] as? NSError
        guard let system, system.domain == NSPOSIXErrorDomain else { return error.localizedDescription }
        return String(cString: strerror(Int32(system.code)))
    }
}
