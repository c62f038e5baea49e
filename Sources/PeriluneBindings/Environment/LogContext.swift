/// Metadata that the host adds to the log messages of scripts.
package enum LogContext {
    /// The metadata for runs of the current task. Fields from the script take precedence.
    @TaskLocal package static var metadata: [String: String] = [:]
}
