internal import Foundation

/// A file that contains a plan. Only existing plan files and empty files are overwritten, so a mistyped path cannot destroy a script or a
/// database.
struct PlanFile {
    let path: String

    /// Checks that a plan can be written to the path.
    ///
    /// - Throws: ``PlanError``.
    func check() throws {
        switch try kind() {
        case .none: if access(folder, W_OK | X_OK) != 0 { throw failure(errno) }
        case .file: if access(path, W_OK) != 0 { throw failure(errno) }
        case .device: break
        }
    }

    /// Writes a plan. An existing file is replaced atomically, after the new file is complete.
    ///
    /// - Throws: ``PlanError``.
    func write(_ plan: PreviewPlan) throws {
        try check()
        do {
            let file = try FileReplacement(path)
            try PlanWriter { try file.write($0) }.write(plan)
            try file.finish()
        } catch let error as StorageError {
            throw failure(error.reason)
        }
    }

    // MARK: - What is there

    private enum Kind {
        /// No file exists at the path.
        case none
        /// A plan file or an empty file.
        case file
        /// A device, a pipe or another special file, which is written directly.
        case device
    }

    private func kind() throws -> Kind {
        var information = stat()
        guard stat(path, &information) == 0 else {
            guard errno == ENOENT else { throw failure(errno) }
            return .none
        }
        switch information.st_mode & S_IFMT {
        case S_IFDIR: throw failure(EISDIR)
        case S_IFREG:
            guard information.st_size == 0 || isPlan else {
                throw PlanError(.file, "refusing to overwrite \(path): it is not a plan file")
            }
            return .file
        default: return .device
        }
    }

    /// Whether the file is a plan file of any version.
    private var isPlan: Bool {
        (try? PlanReader(path: path).isPlan()) ?? false
    }

    private var folder: String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    private func failure(_ code: Int32) -> PlanError { failure(String(cString: strerror(code))) }

    private func failure(_ reason: String) -> PlanError {
        PlanError(.file, "cannot write the plan \(path): \(reason)")
    }
}
