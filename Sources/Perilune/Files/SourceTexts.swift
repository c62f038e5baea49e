internal import Foundation
internal import PeriluneRecords

/// The source texts that error reports can quote: scripts, and modules in the module folder.
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
        // Limits the number of texts, because a host may run scripts for days. Recent scripts are most likely to be quoted.
        if texts.count > Self.mostTexts { texts.removeFirst() }
    }

    private static let mostTexts = 500

    /// Returns the full name of a chunk, which Lua may have shortened to three dots and the end of the name.
    package func fullName(_ file: String) -> String {
        guard file.hasPrefix("...") else { return file }
        return texts.first { $0.name.hasSuffix(file.dropFirst(3)) }?.name ?? file
    }

    /// Returns the text of a script, or of a module in the module folder; `nil` for other files.
    func text(of file: String) -> [UInt8]? {
        texts.first { $0.name == file }?.bytes ?? module(file)
    }

    /// Returns the text of a line, counted from 1.
    ///
    /// Returns `nil` for files other than scripts and modules. Otherwise, a script could read any file, by using its path as a chunk name.
    package func line(_ number: Int, of file: String) -> String? {
        guard let bytes = text(of: file) else { return nil }
        let lines = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: number, omittingEmptySubsequences: false)
        guard number >= 1, number <= lines.count else { return nil }
        return String(decoding: lines[number - 1], as: UTF8.self)
    }

    /// Returns the module in the module folder whose name is most similar to the missing one in a message such as `module 'utill' not
    /// found`; `nil` if no name is similar.
    func moduleName(nearestInMessage message: String) -> String? {
        guard let moduleFolder, let match = message.prefixMatch(of: /(?:require: )?module [`']([\w.-]+)['`] not found/) else {
            return nil
        }
        let parts = match.1.split(separator: "."), place = parts.dropLast()
        let folder = ([moduleFolder] + place.map(String.init)).joined(separator: "/")
        let names = ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted().compactMap { name in
            if name.hasSuffix(".lua") { return String(name.dropLast(".lua".count)) }
            return ScriptFile.exists("\(folder)/\(name)/init.lua") ? name : nil
        }
        guard let nearest = nearestName(to: String(parts.last ?? ""), among: names) else { return nil }
        return (place + [nearest[...]]).joined(separator: ".")
    }

    private func module(_ file: String) -> [UInt8]? {
        guard let moduleFolder, file.hasPrefix(moduleFolder + "/"), file.hasSuffix(".lua"), !file.contains("/../")
        else { return nil }
        return try? ScriptFile.read(file)
    }
}
