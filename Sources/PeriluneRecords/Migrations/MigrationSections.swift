/// The sections of an SQL migration file of dbmate, goose or sql-migrate, in which one file applies and reverts a migration.
struct MigrationSections {
    /// The SQL that applies the migration. Lines of other sections are left empty, which preserves line numbers.
    let up: [UInt8]
    /// The SQL that reverts the migration; `nil` if the section is missing or empty.
    let down: [UInt8]?

    /// Finds the section markers: `-- migrate:up`, `-- +goose Up` or `-- +migrate Up`, and the same with `down`.
    ///
    /// - Returns: `nil` for a file without markers.
    init?(_ text: [UInt8]) {
        var up: [UInt8] = [], down: [UInt8] = [], isDown = false, hasMarker = false, hasDown = false
        for line in text.split(separator: 0x0A, omittingEmptySubsequences: false) {
            if let marker = Self.marker(line) { (isDown, hasMarker) = (marker == .down, true) }
            if isDown { down += line } else { up += line }
            if isDown, !line.isEmpty, !line.starts(with: "--".utf8), line.contains(where: { $0 > 0x20 }) { hasDown = true }
            up.append(0x0A)
            down.append(0x0A)
        }
        guard hasMarker else { return nil }
        self.up = up.dropLast()
        self.down = hasDown ? down.dropLast() : nil
    }

    private enum Marker { case up, down }

    private static func marker(_ line: ArraySlice<UInt8>) -> Marker? {
        let text = line.drop { $0 <= 0x20 }
        guard text.starts(with: "--".utf8) else { return nil }
        let comment = String(decoding: text.dropFirst(2), as: UTF8.self).lowercased().drop { $0.isWhitespace }
        for prefix in ["migrate:", "+goose ", "+migrate "] where comment.hasPrefix(prefix) {
            let word = comment.dropFirst(prefix.count).prefix { $0.isLetter }
            return word == "up" ? .up : word == "down" ? .down : nil
        }
        return nil
    }
}
