import ArgumentParser

/// What scripts may reach, and how much they may use.
struct ScriptLimitOptions: ParsableArguments {
    @Flag(help: "Run without io, os, file modules and SQL that can access files.")
    var sandbox = false

    @Option(
        help: ArgumentHelp("Time limit of each run: seconds, or 500ms, 2s, 1m.", valueName: "time"),
        transform: OptionValue.duration)
    var timeout: Duration?

    @Option(
        help: ArgumentHelp("Memory limit: bytes, or 512K, 64M, 1G.", valueName: "size"),
        transform: OptionValue.size)
    var memory: Int?

    func apply(to request: inout ScriptRequest) {
        request.isSandboxed = sandbox
        request.timeout = timeout
        request.memoryInBytes = memory
    }
}
