internal import Foundation
internal import Perilune
internal import PeriluneIsolation

/// What the process needs of the system before it begins: without it, the runtime of Swift stops the process, or waits for ever.
enum ProcessResources {
    /// How many files must be open at once: the database with its journal, the event queues of Dispatch, scripts, reports.
    static let descriptorCount = 16
    /// How many bytes of address space the libraries, the stacks of threads and a small database take.
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
        // What Swift cannot allocate stops the process.
        if addressSpaceLimit != nil { WorkerEntry.shareHeap() }
    }

    /// Opens files until there are enough; a limit alone does not say how many are open already.
    private static func freeDescriptors(upTo count: Int) -> Int {
        var descriptors: [CInt] = []
        while descriptors.count < count {
            let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
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
