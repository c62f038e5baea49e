internal import Foundation
internal import Perilune
internal import PeriluneIsolation

/// The system resources that the process needs at its start. Without them, the Swift runtime crashes or hangs.
enum ProcessResources {
    /// The required number of file descriptors: the database and its journal, Dispatch's event queues, scripts, reports.
    static let descriptorCount = 16
    /// The required address space in bytes: libraries, thread stacks and a small database.
    static let addressSpaceInBytes: UInt64 = 256 << 20

    /// - Throws: ``CommandFailure`` if there are too few file descriptors, or too little address space.
    static func check() throws {
        let count = freeDescriptors(upTo: descriptorCount)
        if count < descriptorCount {
            throw CommandFailure(
                ErrorReport(
                    "only \(count) more files can be opened; perilune needs \(descriptorCount) (raise `ulimit -n`)",
                    kind: "io"))
        }
        if let size = addressSpaceLimit, size < addressSpaceInBytes {
            throw CommandFailure(
                ErrorReport(
                    "the process may use \(size >> 20) MB of address space; perilune needs \(addressSpaceInBytes >> 20) MB "
                        + "(raise `ulimit -v`)",
                    kind: "memory"))
        }
        // Threads share one heap to save addresses, because a failed allocation in Swift ends the process.
        if addressSpaceLimit != nil { WorkerEntry.shareHeap() }
    }

    /// Returns the number of free descriptors by opening files, because the limit does not show how many are in use.
    private static func freeDescriptors(upTo count: Int) -> Int {
        var descriptors: [CInt] = []
        while descriptors.count < count {
            let descriptor = open("/", O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { break }
            descriptors.append(descriptor)
        }
        for descriptor in descriptors { close(descriptor) }
        return descriptors.count
    }

    private static var addressSpaceLimit: UInt64? {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0, limit.rlim_cur != rlim_t.max else { return nil }
        return UInt64(limit.rlim_cur)
    }
}
