public import GRDB

/// An asynchronous sequence with a `Void` element for each transaction that may have changed a region of a database.
///
/// Transactions that are committed while the loop is busy are combined into one element. The sequence ends when its task is cancelled.
public struct RegionChanges: AsyncSequence, Sendable {
    let writer: any DatabaseWriter
    let regions: [any DatabaseRegionConvertible & Sendable]

    public func makeAsyncIterator() -> AsyncIterator {
        let observation = DatabaseRegionObservation(tracking: regions)
        let stream = AsyncThrowingStream<Void, any Error>(bufferingPolicy: .bufferingNewest(1)) { [writer] continuation in
            let observing = observation.start(in: writer) {
                continuation.finish(throwing: $0)
            } onChange: { _ in
                continuation.yield()
            }
            continuation.onTermination = { _ in observing.cancel() }
        }
        return AsyncIterator(base: stream.makeAsyncIterator())
    }

    public struct AsyncIterator: AsyncIteratorProtocol {
        var base: AsyncThrowingStream<Void, any Error>.Iterator

        /// Waits for the next transaction.
        ///
        /// - Throws: A GRDB error if the database cannot be observed.
        public mutating func next() async throws -> Void? {
            try await base.next()
        }
    }
}

extension DatabaseWriter {
    /// Returns a sequence of future transactions that may change database regions, such as tables or requests.
    public func changes(in regions: [any DatabaseRegionConvertible & Sendable]) -> RegionChanges {
        RegionChanges(writer: self, regions: regions)
    }
}
