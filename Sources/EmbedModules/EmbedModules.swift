import Foundation
import PackagePlugin

/// A build plugin that embeds the source text and bytecode of the Lua modules of one folder of `lib` in a target.
///
/// The target determines the folder. The plugin skips folders named `native`: their files are never loaded, and only describe C
/// and Swift functions to editors.
@main struct EmbedModules: BuildToolPlugin {
    private static let folders = [
        "PeriluneLibrary": "perilune", "PeriluneScenarioLibrary": "scenarios", "PeriluneReferenceLibrary": "reference",
        "PeriluneConsoleLibrary": "console",
    ]

    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        guard let folder = Self.folders[target.name] else { return [] }
        let library = context.package.directoryURL.appending(path: "lib")
        let output = context.pluginWorkDirectoryURL.appending(path: "EmbeddedModules+\(folder).swift")
        let modules = Self.modules(of: folder, in: library)
        let variable = "embedded\(folder.prefix(1).uppercased())\(folder.dropFirst())Modules"
        return [
            .buildCommand(
                displayName: "Embedding lib/\(folder)", executable: try context.tool(named: "perilune-module-compiler").url,
                arguments: [output.path(percentEncoded: false), variable] + modules.map { "\($0.name)=\($0.file)" },
                inputFiles: modules.map { URL(filePath: $0.file) }, outputFiles: [output])
        ]
    }

    /// Returns the module names that `require` accepts, and their files, sorted by the UTF-8 bytes of the names.
    private static func modules(of folder: String, in library: URL) -> [(name: String, file: String)] {
        let root = library.appending(path: folder).path(percentEncoded: false)
        guard let files = FileManager.default.enumerator(atPath: root) else { return [] }
        return files.compactMap { $0 as? String }.filter { $0.hasSuffix(".lua") && !$0.contains("native/") }.map { file in
            var name = "\(folder)/\(file.dropLast(".lua".count))"
            if name.hasSuffix("/init") { name.removeLast("/init".count) }
            return (name.replacing("/", with: "."), "\(root)/\(file)")
        }.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }
}
