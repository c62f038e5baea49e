import ArgumentParser

/// The options for tracing SQL statements on standard error.
struct TraceOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Write each SQL statement to standard error: statements (default), or profile.", valueName: "what"))
    var trace: TraceDetail?

    @Flag(help: "Show bound values in the trace.")
    var traceValues = false

    @Option(
        help: ArgumentHelp("Report statements slower than this, with their query plans.", valueName: "time"),
        transform: OptionValue.duration)
    var slow: Duration?

    var request: TraceRequest { TraceRequest(detail: trace, showsValues: traceValues, slow: slow) }

    func validate() throws {
        if traceValues, trace == nil, slow == nil { throw ValidationError("--trace-values requires --trace or --slow") }
    }
}
