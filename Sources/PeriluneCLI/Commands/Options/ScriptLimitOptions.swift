import ArgumentParser

/// What scripts may reach, and how much they may use.
struct ScriptLimitOptions: ParsableArguments {
    @Flag(help: "Run without io, os, file modules and SQL that can access files.")
    var sandbox = false

    @Option(
        help: ArgumentHelp(
            "Time limit: seconds, or 500ms, 2s, 1m. Of a script with all its timers and tasks, or of each run of automations.",
            valueName: "time"),
        transform: OptionValue.duration)
    var timeout: Duration?

    @Option(
        help: ArgumentHelp("Memory limit: bytes, or 512K, 64M, 1G.", valueName: "size"),
        transform: OptionValue.size)
    var memory: Int?

    @Option(
        help: ArgumentHelp("How much scripts may print: bytes, or 512K, 64M, 1G. 64M with --sandbox.", valueName: "size"),
        transform: OptionValue.size)
    var output: Int?

    func apply(to request: inout ScriptRequest) {
        request.isSandboxed = sandbox
        request.timeout = timeout
        request.memoryInBytes = memory
        request.outputInBytes = output ?? (sandbox ? 64 << 20 : nil)
    }
}
