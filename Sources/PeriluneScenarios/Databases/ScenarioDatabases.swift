internal import Foundation
internal import GRDB
internal import Perilune
internal import PeriluneBindings
internal import PeriluneLua
internal import PeriluneRecords
internal import Synchronization

/// The initial databases of scenarios, read from files or made from migrations and templates.
final class ScenarioDatabases: Sendable {
    private let store: TemplateStore
    private let chunks: ChunkCache
    private let options: ScenarioOptions
    /// The collector of the lines that run in migrations and in modules of templates; `nil` if coverage is not measured.
    private let coverage: CoverageCollector?
    /// The names of database images by request. Each name is computed once per run.
    private let names = Mutex<[String: String]>([:])
    /// The limits for making a template.
    private static let limits = LuaLimits(time: .seconds(30))

    init(store: TemplateStore, chunks: ChunkCache, options: ScenarioOptions, coverage: CoverageCollector? = nil) {
        (self.store, self.chunks, self.options, self.coverage) = (store, chunks, options, coverage)
    }

    /// A scenario file with the templates that its scenarios can use.
    struct Source: Sendable {
        let file: ScenarioFile
        let templates: [ScenarioTemplate]
    }

    /// Returns the initial contents of a scenario's database, and whether the database is in memory or in a file. An empty database has no
    /// image.
    func find(for scenario: Scenario, in source: Source) throws -> (place: ScenarioStage.Place, image: DatabaseImage?) {
        let template = { [self] in try layer(scenario.template ?? Self.base, in: source)?.image }
        switch scenario.database {
        case nil, "memory": return (.memory, try template())
        case "file": return (.file, try template())
        case "empty": return (.memory, nil)
        case let database? where database.hasPrefix("fixture:"):
            return (.memory, try fixture(String(database.dropFirst("fixture:".count)), of: source.file))
        case let database?:
            throw ScenarioUsageError(
                "option database: expected \"file\", \"empty\", \"memory\" or \"fixture:NAME\", got \"\(database)\"")
        }
    }

    // MARK: - Fixtures

    private func fixture(_ name: String, of file: ScenarioFile) throws -> DatabaseImage {
        // The cluster is copied once, so that all scenarios that begin with this fixture have the same rows.
        if ClusterAddress.isMeant(by: name) { return try store.image(named: "fixture:" + name) { try copyOfCluster(name) } }
        let place = file.place
        let folders = place.folder == place.root ? [place.root] : [place.folder, place.root]
        let paths = folders.flatMap { [ScenarioLocation.path(name, in: $0), ScenarioLocation.path("fixtures/" + name, in: $0)] }
        guard let path = paths.first(where: { FileManager.default.fileExists(atPath: $0) }) else {
            throw ScenarioUsageError("fixture `\(name)` not found; looked for \(paths.joined(separator: ", "))")
        }
        return try store.image(named: "fixture:" + path) {
            let image = DatabaseImage(bytes: try ScriptHost.read(path))
            guard image.isDatabase else { throw ScenarioUsageError("the fixture \(path) is not an SQLite database") }
            return image
        }
    }

    private func copyOfCluster(_ url: String) throws -> DatabaseImage {
        let copy = try DatabaseQueue()
        defer { try? copy.close() }
        try DatabasePlaces.copy(of: url, into: copy)
        return try copy.writeWithoutTransaction { db in try DatabaseImage(of: db) }
    }

    // MARK: - Migrations

    /// The name of the template that results from the migrations.
    private static let base = "base"

    /// Returns the folder of the migrations for a scenario file; `nil` if it does not exist.
    func migrations(of file: ScenarioFile) -> String? {
        if let folder = options.migrations { return folder }
        let folder = ScenarioLocation.path("migrations", in: file.place.project)
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder) && isFolder.boolValue ? folder : nil
    }

    private func makeBase(_ folder: String) throws -> DatabaseImage {
        let stage = try ScenarioStage(.memory, image: nil, seed: 0, extensions: options.loadedExtensions)
        defer { stage.close() }
        let (state, _, _) = try stage.makeState(limits: Self.limits) { _ in }
        defer { close(state) }
        if coverage != nil { state.coverLines() }
        let migrations = try ScriptMigrations(in: state)
        try migrations.register(folder: folder)
        try migrations.migrate()
        return try stage.image()
    }

    private func close(_ state: LuaState) {
        coverage?.add(state)
        state.close()
    }

    // MARK: - Templates

    /// A database image with a name that identifies everything from which it was made.
    private struct Layer {
        let name: String
        let image: DatabaseImage
    }

    private func layer(_ name: String, in source: Source) throws -> Layer? {
        if name == "empty" { return nil }
        guard let template = source.templates.last(where: { $0.name == name }) else {
            guard name == Self.base else { throw unknown(name, in: source) }
            return try migrations(of: source.file).map(migrated)
        }
        // A template named `base` starts with an empty database, unless it names a parent.
        let parent = template.parent ?? (name == Self.base ? "empty" : Self.base)
        let path = try chain(from: template, in: source)
        let below = try layer(parent, in: source)
        let key = self.name("\(source.file.path)\0\(path.joined(separator: "\0"))") {
            Self.name(of: template, on: below?.name ?? "", in: source)
        }
        return try Layer(name: key, image: store.image(named: key) { try fill(template, on: below?.image, in: source) })
    }

    private func migrated(_ folder: String) throws -> Layer {
        let key = try name("base:" + folder) { try Self.name(ofFolder: folder) }
        return try Layer(name: key, image: store.image(named: key) { try makeBase(folder) })
    }

    /// Returns the names of a template and its ancestors, from the template to the lowest one.
    private func chain(from template: ScenarioTemplate, in source: Source) throws -> [String] {
        var path = [template.name]
        var next = template
        while let parent = next.parent, let below = source.templates.last(where: { $0.name == parent }) {
            guard !path.contains(parent) else {
                throw ScenarioUsageError("templates form a cycle: \((path + [parent]).joined(separator: " → "))")
            }
            path.append(parent)
            next = below
        }
        return path
    }

    private func unknown(_ name: String, in source: Source) -> ScenarioUsageError {
        let names = ([Self.base, "empty"] + source.templates.map(\.name)).sorted()
        let hint = nearestName(to: name, among: names).map { "; did you mean `\($0)`?" } ?? ""
        return ScenarioUsageError("unknown template `\(name)`\(hint); available: \(names.joined(separator: ", "))")
    }

    private func fill(_ template: ScenarioTemplate, on base: DatabaseImage?, in source: Source) throws -> DatabaseImage {
        let stage = try ScenarioStage(.memory, image: base, seed: 0, extensions: options.loadedExtensions)
        defer { stage.close() }
        let state = try ScenarioState(on: stage, limits: Self.limits, chunks: chunks, modules: options.modules)
        defer { close(state.state) }
        if coverage != nil { state.state.coverLines() }
        try state.load(source.file)
        try state.loadFiller()
        // Loading the file does not count against the timeout of the template.
        if let timeout = template.timeout { state.state.limitTime(to: timeout) }
        do {
            try state.fill(template)
        } catch let timeout as LuaError where timeout.code == .timeout {
            var error = timeout
            error.message += "; the option `timeout` of the template sets this limit"
            throw error
        }
        return try stage.image()
    }

    // MARK: - Names

    private func name(_ key: String, _ make: () throws -> String) rethrows -> String {
        if let name = names.withLock({ $0[key] }) { return name }
        let name = try make()
        names.withLock { $0[key] = name }
        return name
    }

    private static func name(ofFolder folder: String) throws -> String {
        let names: [String]
        do { names = try MigrationFolder(folder).names } catch { throw ScenarioUsageError(error.message) }
        let files = names.sorted().filter { $0.hasSuffix(".lua") || $0.hasSuffix(".sql") }
        return try TemplateStore.name(files.flatMap { [Array($0.utf8), try ScriptHost.read("\(folder)/\($0)")] })
    }

    private static func name(of template: ScenarioTemplate, on base: String, in source: Source) -> String {
        // A template may use any code that is loaded before it, so its name depends on the texts of all files.
        let file = template.file == source.file.path ? [source.file.source] : []
        let texts = (source.file.supports + file).flatMap { [Array($0.path.utf8), $0.text] }
        return TemplateStore.name([Array(template.name.utf8), Array(base.utf8)] + texts)
    }
}
