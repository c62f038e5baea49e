import ArgumentParser

/// The permissions and resource limits of scripts.
struct ScriptLimitOptions: ParsableArguments {
    @Flag(help: "Run without io, os, file modules and SQL that can access files.")
    var sandbox = false

    @Option(
        help: ArgumentHelp(
            "Time limit: seconds, or 500ms, 2s, 1h30m. Applies to a script with all its timers and tasks, or to each run of an automation.",
            valueName: "time"),
        transform: OptionValue.duration)
    var timeout: Duration?

    @Option(
        help: ArgumentHelp("Memory limit: bytes, or 512K, 64M, 1G.", valueName: "size"),
        transform: OptionValue.size)
    var memory: Int?

    @Option(
        help: ArgumentHelp(
            "Limit on printed output: bytes, or 512K, 64M, 1G. Defaults to 64M with --sandbox.", valueName: "size"),
        transform: OptionValue.size)
    var output: Int?

    @Option(
        help: ArgumentHelp(
            "Limit on what is written to files, temporary ones too: bytes, or 64M, 1G. Defaults to 4G with --sandbox.",
            valueName: "size"),
        transform: OptionValue.size)
    var disk: Int?

    @OptionGroup var extending: ExtensionOptions

    func validate() throws { try extending.validate(isSandboxed: sandbox) }

    func apply(to request: inout ScriptRequest) {
        (request.isSandboxed, request.isSupervised, request.timeout) = (sandbox, SupervisedRun.isOngoing, timeout)
        (request.memoryInBytes, request.outputInBytes, request.diskInBytes) = (memory, output, disk)
        request.extensions = extending.given
        request.addSettings()
    }

    /// Notes on the limits and extensions from the settings, for `--verbose`.
    var notes: [String] {
        let limits = [
            (Setting.timeout, timeout != nil), (.memory, memory != nil), (.output, output != nil), (.disk, disk != nil),
        ].compactMap { setting, isOption in
            isOption ? nil : Settings.note(setting)
        }
        return limits + [ExtensionOptions.note(isSandboxed: sandbox)].compactMap { $0 }
    }
}

extension ScriptRequest {
    /// Fills in limits from the settings, then from the sandbox defaults, and adds the extensions of the settings.
    mutating func addSettings() {
        let settings = Settings.current
        let given: [(Setting, Bool)] = [
            (.timeout, timeout != nil), (.memory, memoryInBytes != nil), (.output, outputInBytes != nil),
            (.disk, diskInBytes != nil),
        ]
        for (setting, isOption) in given where !isOption { limitSources[setting] = settings[setting]?.source ?? .standard }
        if !isSandboxed { extensions = ExtensionOptions.ofSettings + extensions }
        timeout = timeout ?? settings.limit(.timeout, OptionValue.duration)
        memoryInBytes = memoryInBytes ?? settings.limit(.memory, OptionValue.size)
        outputInBytes = outputInBytes ?? settings.limit(.output, OptionValue.size) ?? (isSandboxed ? 64 << 20 : nil)
        diskInBytes = diskInBytes ?? settings.limit(.disk, OptionValue.size) ?? (isSandboxed ? 4 << 30 : nil)
    }
}

extension ScriptRequest {
    /// The help text of an error about a limit, which names the source of the limit.
    func help(onLimit setting: Setting) -> String {
        let option = "--" + setting.rawValue.split(separator: ".").last!
        switch limitSources[setting] {
        case .file(let path, let line): return "the limit was set by \(path):\(line)"
        case .standard: return "this is the limit with --sandbox; \(option) sets another"
        default: return "the limit was set by \(option)"
        }
    }
}

extension Settings {
    /// Returns the value of a limit, which was validated when the settings file was read.
    func limit<Value>(_ setting: Setting, _ read: (String) throws -> Value) -> Value? {
        self[setting].flatMap { try? read($0.text) }
    }
}
