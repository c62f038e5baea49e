/// A folder named by an option, an argument or the settings.
struct FolderSetting {
    let path: String
    /// The source of the folder, for `--verbose`; empty if it is the default.
    let origin: String

    /// - Parameter name: The name of the option in messages.
    init(_ setting: Setting, option: String?, named name: String) {
        let value = Settings.value(setting, option: option, named: name)
        path = value?.text ?? "."
        origin = value?.origin ?? ""
    }
}
