/// A folder, by an option or an argument, else by the settings.
struct FolderSetting {
    let path: String
    /// Where it comes from, for `--verbose`; empty where nothing has set it.
    let origin: String

    /// - Parameter name: What messages call the option.
    init(_ setting: Setting, option: String?, named name: String) {
        let value = option.map { Settings.Value(text: $0, source: .option(name)) } ?? Settings.current[setting]
        path = value?.text ?? "."
        origin = value.flatMap { $0.source == .standard ? nil : " (\($0.source.text))" } ?? ""
    }
}
