internal import Foundation
internal import Perilune
internal import PeriluneScenarios

/// A review that shows each new or different snapshot and asks whether to accept it. It runs no scenarios: earlier runs wrote the snapshots.
struct SnapshotReview {
    let paths: [String]
    let colors: Colors

    private enum Answer {
        case accept, reject, skip, quit
    }

    /// - Returns: The exit status.
    func run() throws -> Int32 {
        let files = paths.flatMap(find)
        guard !files.isEmpty else {
            try show(
                "no snapshots to review; no scenario was run, so run `perilune test` first, which writes new and changed ones\n")
            return ExitStatus.success
        }
        var counts = (accepted: 0, rejected: 0, left: 0)
        for (index, file) in files.enumerated() {
            try show(colors.bold("\(index + 1) of \(files.count)  \(DisplayText.escaped(accepted(file)))") + "\n")
            try show(difference(of: file))
            switch try ask() {
            case .accept:
                try move(file)
                counts.accepted += 1
            case .reject:
                try FileManager.default.removeItem(atPath: file)
                counts.rejected += 1
            case .skip: counts.left += 1
            case .quit:
                counts.left += files.count - index
                try finish(counts)
                return ExitStatus.success
            case nil:
                counts.left += files.count - index
                try finish(counts)
                StandardStreams.writeError("error: the review ended after \(Self.mostMistakes) unknown answers in a row\n")
                return ExitStatus.failure
            }
        }
        try finish(counts)
        return ExitStatus.success
    }

    private func finish(_ counts: (accepted: Int, rejected: Int, left: Int)) throws {
        try show("\(counts.accepted) accepted, \(counts.rejected) rejected, \(counts.left) left\n")
    }

    private func show(_ text: String) throws {
        try StandardStreams.write(Array(text.utf8))
        try StandardStreams.flush()
    }

    // MARK: - Files

    private static let suffix = ".snap.new"

    private func find(_ path: String) -> [String] {
        let folder = path.hasSuffix(".lua") ? SnapshotFiles.folder(of: path) : path
        let names = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
        return names.filter { $0.hasSuffix(Self.suffix) }.sorted().map { folder + "/" + $0 }
    }

    /// Returns the path of the accepted snapshot, without `.new`.
    private func accepted(_ file: String) -> String { String(file.dropLast(4)) }

    private func move(_ file: String) throws {
        guard rename(file, accepted(file)) == 0 else {
            let reason = String(cString: strerror(errno))
            throw CommandFailure(ErrorReport("cannot write the snapshot \(accepted(file)): \(reason)", kind: "io"))
        }
    }

    private func difference(of file: String) -> String {
        let new = lines(file) ?? []
        guard let old = lines(accepted(file)) else { return new.map { colors.green("+ " + $0) + "\n" }.joined() }
        return LineDifference(old, new).lines.map { line in
            switch line {
            case .same(let text): "  " + text + "\n"
            case .removed(let text): colors.red("- " + text) + "\n"
            case .added(let text): colors.green("+ " + text) + "\n"
            case .gap: colors.dim("  ...") + "\n"
            }
        }.joined()
    }

    private func lines(_ file: String) -> [String]? {
        guard let data = FileManager.default.contents(atPath: file) else { return nil }
        var lines = data.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map {
            DisplayText.escaped(Array($0))
        }
        if lines.last == "" { lines.removeLast() }
        return lines
    }

    // MARK: - Questions

    /// The number of unknown answers in a row that end the review.
    private static let mostMistakes = 5

    /// - Returns: The answer, which is `quit` at the end of the input; `nil` after too many unknown answers.
    private func ask() throws -> Answer? {
        for _ in 0..<Self.mostMistakes {
            try show("accept, reject, skip or quit? [a/r/s/q] ")
            guard let line = readLine() else {
                try show("\n")
                return .quit
            }
            let answer = line.trimmingCharacters(in: .whitespaces)
            switch answer.lowercased() {
            case "a", "accept": return .accept
            case "r", "reject": return .reject
            case "s", "skip", "": return .skip
            case "q", "quit": return .quit
            default: try show("expected a, r, s or q, got \(DisplayText.escaped(String(answer.prefix(40))))\n")
            }
        }
        return nil
    }
}

/// The differences between two texts by line, with a few unchanged lines around them.
struct LineDifference {
    enum Line: Equatable {
        case same(String), removed(String), added(String)
        /// Omitted unchanged lines.
        case gap
    }

    private(set) var lines: [Line] = []
    private static let context = 3

    init(_ old: [String], _ new: [String]) {
        var all: [Line] = []
        var (removed, added) = (Set<Int>(), Set<Int>())
        for change in new.difference(from: old) {
            switch change {
            case .remove(let offset, _, _): removed.insert(offset)
            case .insert(let offset, _, _): added.insert(offset)
            }
        }
        var (position, place) = (0, 0)
        while position < old.count || place < new.count {
            if position < old.count, removed.contains(position) {
                all.append(.removed(old[position]))
                position += 1
            } else if place < new.count, added.contains(place) {
                all.append(.added(new[place]))
                place += 1
            } else {
                all.append(.same(new[place]))
                position += 1
                place += 1
            }
        }
        lines = Self.shortened(all)
    }

    /// Omits unchanged lines that are far from every change.
    private static func shortened(_ lines: [Line]) -> [Line] {
        let changes = lines.indices.filter { if case .same = lines[$0] { false } else { true } }
        var near: Set<Int> = []
        for change in changes { near.formUnion(max(0, change - context)...min(lines.count - 1, change + context)) }
        var result: [Line] = []
        for (index, line) in lines.enumerated() {
            if near.contains(index) { result.append(line) } else if result.last != .gap { result.append(.gap) }
        }
        return result
    }
}
