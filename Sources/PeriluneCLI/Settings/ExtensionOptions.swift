import ArgumentParser

/// The SQLite extensions that a command's database loads.
struct ExtensionOptions: ParsableArguments {
    @Option(
        name: .customLong("extension"),
        help: ArgumentHelp(
            "Load an SQLite extension into each connection, in addition to those in perilune.toml. May be repeated; not with --sandbox.",
            valueName: "file"),
        completion: .file(extensions: ["so"]))
    var given: [String] = []

    /// - Parameter isSandboxed: Whether scripts are untrusted. Such scripts never load native code, regardless of the settings.
    func paths(isSandboxed: Bool = false) -> [String] { isSandboxed ? [] : Self.ofSettings + given }

    /// Returns a note on the extensions from the settings and their source, for `--verbose`; `nil` if the settings name none.
    static func note(isSandboxed: Bool = false) -> String? {
        guard !ofSettings.isEmpty, let note = Settings.note(.extensions) else { return nil }
        return isSandboxed ? "\(note), not loaded with --sandbox" : note
    }

    /// - Throws: `ValidationError` if the options contradict each other.
    func validate(isSandboxed: Bool) throws {
        if isSandboxed, !given.isEmpty {
            throw ValidationError(
                "--extension cannot be used with --sandbox: an extension is native code, which no sandbox holds")
        }
    }

    static var ofSettings: [String] { Settings.current[.extensions]?.items ?? [] }
}
