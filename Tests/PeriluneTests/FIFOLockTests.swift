import Synchronization
import Testing

@testable import Perilune

/// The number of tasks that hold the lock, and the highest number at one time.
private final class Holders: Sendable {
    let now = Atomic(0), most = Atomic(0)
}

@Suite struct FIFOLockTests {
    @Test func `a free lock can be acquired and released repeatedly`() async {
        let lock = FIFOLock()
        for _ in 0..<3 {
            #expect(await lock.acquire())
            lock.release()
        }
    }

    @Test func `a cancelled task does not acquire a free lock`() async {
        let lock = FIFOLock()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await lock.acquire()
        }
        #expect(await task.value == false)
        #expect(await lock.acquire())
    }

    @Test func `a cancelled task stops waiting, and the next one acquires the lock`() async {
        let lock = FIFOLock()
        #expect(await lock.acquire())
        let first = Task { await lock.acquire() }
        first.cancel()
        #expect(await first.value == false)
        let second = Task { await lock.acquire() }
        lock.release()
        #expect(await second.value)
    }

    @Test(arguments: 0..<20) func `with random cancellations, one task at a time holds the lock, which is free at the end`(
        _ seed: Int
    ) async {
        let lock = FIFOLock(), holders = Holders()
        await withTaskGroup { group in
            for number in 0..<200 {
                let task = Task {
                    guard await lock.acquire() else { return }
                    let count = holders.now.wrappingAdd(1, ordering: .relaxed).newValue
                    holders.most.max(count, ordering: .relaxed)
                    await Task.yield()
                    holders.now.wrappingSubtract(1, ordering: .relaxed)
                    lock.release()
                }
                if (number &* 7919 &+ seed) % 3 == 0 { task.cancel() }
                group.addTask { await task.value }
            }
        }
        #expect(holders.most.load(ordering: .relaxed) == 1)
        #expect(await lock.acquire())
    }
}
