internal import CPeriluneIsolation
internal import Glibc

/// The functions that a worker process calls when it starts: they open the inherited connections and configure the process.
package enum WorkerEntry {
    /// Opens the connection to the parent process.
    package static func openChannel() -> FrameChannel {
        FrameChannel(descriptor: CInt(PISO_CONNECTION))
    }

    /// Opens the connection on which the parent process answers calls that block a thread of the worker.
    package static func openAnswers() -> FrameChannel {
        FrameChannel(descriptor: CInt(PISO_ANSWERS))
    }

    /// Whether the process inherited a connection.
    package static var isConnected: Bool {
        var information = stat()
        return fstat(CInt(PISO_CONNECTION), &information) == 0 && information.st_mode & S_IFMT == S_IFSOCK
    }

    /// Installs signal handlers that report the script's position if a signal ends the process. Call it on the thread that runs scripts.
    ///
    /// - Parameter describe: Writes the position, terminated by NUL, into a buffer of the given size. It must be async-signal-safe.
    package static func prepareLastWords(
        describe: @convention(c) (UnsafeMutableRawPointer?, UnsafeMutablePointer<CChar>?, Int) -> Void,
        subject: UnsafeMutableRawPointer?
    ) {
        _ = piso_prepare_last_words(CInt(PISO_LAST_WORDS), describe, subject)
    }

    /// Ignores SIGINT, SIGTERM and SIGHUP. A terminal or a service manager sends them to all processes of a program, which then ends its
    /// runs before it closes the connection.
    package static func ignoreTermination() {
        for number in [SIGINT, SIGTERM, SIGHUP] { signal(number, SIG_IGN) }
    }

    /// Makes `free` return large blocks to the system immediately, so that a memory limit applies to the memory in use.
    package static func returnFreedBlocks() {
        piso_return_freed_blocks()
    }

    /// Makes all threads allocate from one heap. By default, each thread's first allocation reserves 128 MB of address space, which may
    /// exceed the limit of the process.
    package static func shareHeap() {
        piso_share_heap()
    }

    /// Writes bytes to standard output, after any output that C code has buffered.
    package static func print(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { piso_print($0.baseAddress, $0.count) }
    }
}
