/// The metadata that the host adds to messages that scripts log.
package enum LogContext {
    /// For the runs of the current task. Fields that a script gives come first.
    @TaskLocal package static var metadata: [String: String] = [:]
}
