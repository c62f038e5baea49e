/// A folder, by an option or an argument, else by the settings.
struct FolderSetting {
    let path: String
    /// Where it comes from, for `--verbose`; empty where nothing has set it.
    let origin: String

    /// - Parameter name: What messages call the option.
    init(_ setting: Setting, option: String?, named name: String) {
        let value = Settings.value(setting, option: option, named: name)
        path = value?.text ?? "."
        origin = value?.origin ?? ""
    }
}
