public import GRDB

// Observation of regions as an asynchronous sequence.

extension DatabaseWriter {
    /// Returns an asynchronous sequence with a `Void` element for each future transaction that may have changed one of the regions, such
    /// as tables or requests.
    ///
    /// Transactions that are committed while the loop is busy are combined into one element. The sequence ends when its task is
    /// cancelled, and throws a GRDB error if the database cannot be observed.
    public func changes(in regions: [any DatabaseRegionConvertible & Sendable]) -> some AsyncSequence<Void, any Error> & Sendable
    {
        RegionChanges(writer: self, regions: regions)
    }
}

/// The transactions that may have changed a region. Each loop starts an observation of its own.
private struct RegionChanges: AsyncSequence, Sendable {
    let writer: any DatabaseWriter
    let regions: [any DatabaseRegionConvertible & Sendable]

    func makeAsyncIterator() -> AsyncThrowingStream<Void, any Error>.Iterator {
        let observation = DatabaseRegionObservation(tracking: regions)
        let stream = AsyncThrowingStream<Void, any Error>(bufferingPolicy: .bufferingNewest(1)) { [writer] continuation in
            let observing = observation.start(in: writer) {
                continuation.finish(throwing: $0)
            } onChange: { _ in
                continuation.yield()
            }
            continuation.onTermination = { _ in observing.cancel() }
        }
        return stream.makeAsyncIterator()
    }
}
