internal import CPeriluneIsolation
internal import Glibc

/// The worker's side of its start: the inherited connections and the settings of the process.
package enum WorkerEntry {
    /// Opens the connection to the parent process.
    package static func openChannel() -> FrameChannel {
        FrameChannel(descriptor: CInt(PISO_CONNECTION))
    }

    /// Opens the connection on which the parent answers calls that block a thread of this process.
    package static func openAnswers() -> FrameChannel {
        FrameChannel(descriptor: CInt(PISO_ANSWERS))
    }

    /// Whether the process inherited a connection.
    package static var isConnected: Bool {
        var information = stat()
        return fstat(CInt(PISO_CONNECTION), &information) == 0 && information.st_mode & S_IFMT == S_IFSOCK
    }

    /// Makes the process report the position of its script when a signal ends it. Call it on the thread that runs scripts.
    ///
    /// - Parameter describe: Writes the position and a NUL into a buffer of the given size. It must be safe in a signal handler.
    package static func prepareLastWords(
        describe: @convention(c) (UnsafeMutableRawPointer?, UnsafeMutablePointer<CChar>?, Int) -> Void,
        subject: UnsafeMutableRawPointer?
    ) {
        _ = piso_prepare_last_words(CInt(PISO_LAST_WORDS), describe, subject)
    }

    /// Returns large memory blocks to the system as soon as they are freed, so that a memory limit measures the memory in use.
    package static func returnFreedBlocks() {
        piso_return_freed_blocks()
    }

    /// Makes all threads allocate from one heap. Otherwise the first allocations of each thread reserve 128 MB of addresses, which may be
    /// more than a process with a limited address space has.
    package static func shareHeap() {
        piso_share_heap()
    }

    /// Writes to standard output after everything that the program has printed there.
    package static func print(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { piso_print($0.baseAddress, $0.count) }
    }
}
