/// The source texts that error reports may quote: scripts, and modules in the module folder.
package struct SourceTexts {
    private var texts: [(name: String, bytes: [UInt8])] = []
    /// The module folder; `nil` if scripts cannot load modules.
    private let moduleFolder: String?

    package init(moduleFolder: String?) {
        self.moduleFolder = moduleFolder
    }

    package mutating func add(_ bytes: [UInt8], named name: String) {
        texts.removeAll { $0.name == name }
        texts.append((name, bytes))
        // Keep only the latest texts, because a host may run scripts for days, and recent scripts are most likely to fail.
        if texts.count > Self.mostTexts { texts.removeFirst() }
    }

    private static let mostTexts = 500

    /// Returns the full name of a chunk. Lua may shorten a long name to three dots and its end.
    package func fullName(_ file: String) -> String {
        guard file.hasPrefix("...") else { return file }
        return texts.first { $0.name.hasSuffix(file.dropFirst(3)) }?.name ?? file
    }

    /// The text of a script or of a module in the folder.
    func text(of file: String) -> [UInt8]? {
        texts.first { $0.name == file }?.bytes ?? module(file)
    }

    /// Returns the text of a line, counted from 1.
    ///
    /// The result is `nil` for other files, because a script can choose any chunk name, and must not read forbidden files this
    /// way.
    package func line(_ number: Int, of file: String) -> String? {
        guard let bytes = text(of: file) else { return nil }
        let lines = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: number, omittingEmptySubsequences: false)
        guard number >= 1, number <= lines.count else { return nil }
        return String(decoding: lines[number - 1], as: UTF8.self)
    }

    private func module(_ file: String) -> [UInt8]? {
        guard let moduleFolder, file.hasPrefix(moduleFolder + "/"), file.hasSuffix(".lua"), !file.contains("/../")
        else { return nil }
        return try? ScriptFile.read(file)
    }
}
