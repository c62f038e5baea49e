internal import CPeriluneIsolation
internal import Glibc

/// What a process that was started as a worker finds.
package enum WorkerEntry {
    /// The connection to the process that has started this one.
    package static func openChannel() -> FrameChannel {
        FrameChannel(descriptor: CInt(PISO_CONNECTION))
    }

    /// Opens the way by which answers come for which a thread of this process waits.
    package static func openAnswers() -> FrameChannel {
        FrameChannel(descriptor: CInt(PISO_ANSWERS))
    }

    /// Whether this process was started with a connection.
    package static var isConnected: Bool {
        var information = stat()
        return fstat(CInt(PISO_CONNECTION), &information) == 0 && information.st_mode & S_IFMT == S_IFSOCK
    }

    /// Has the process say where its script is when a signal ends it. To be called on the thread that runs scripts.
    ///
    /// - Parameter describe: Writes a place into a number of bytes, with a NUL, and does nothing that a signal handler may not.
    package static func prepareLastWords(
        describe: @convention(c) (UnsafeMutableRawPointer?, UnsafeMutablePointer<CChar>?, Int) -> Void, subject: UnsafeMutableRawPointer?
    ) {
        _ = piso_prepare_last_words(CInt(PISO_LAST_WORDS), describe, subject)
    }

    /// Has large blocks of memory go back to the system as soon as they are freed: for processes whose scripts have a limit of memory.
    package static func returnFreedBlocks() {
        piso_return_freed_blocks()
    }

    /// Makes all threads allocate from one heap. Otherwise the first allocations of each thread reserve 128 MB of addresses, which may be
    /// more than a process with a limited address space has.
    package static func shareHeap() {
        piso_share_heap()
    }

    /// Prints as Lua does.
    package static func print(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { piso_print($0.baseAddress, $0.count) }
    }
}
