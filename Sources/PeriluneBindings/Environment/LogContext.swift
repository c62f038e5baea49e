/// Metadata that the host adds to log messages of scripts.
package enum LogContext {
    /// Applies to the runs of the current task. Fields given by a script take precedence.
    @TaskLocal package static var metadata: [String: String] = [:]
}
