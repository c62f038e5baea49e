import Foundation

/// A group of measures that time Swift code in this process.
protocol TimedMeasures {
    /// The number of repetitions; the result is the time of the fastest one.
    var rounds: Int { get }
}

extension TimedMeasures {
    func time(_ body: () async throws -> Void) async throws -> Double {
        let start = ContinuousClock.now
        try await body()
        return (ContinuousClock.now - start) / .seconds(1)
    }

    func least(_ body: () async throws -> Void) async throws -> Double {
        var least = Double.infinity
        for _ in 0..<rounds { least = min(least, try await time(body)) }
        return least
    }

    func median(of count: Int, _ body: () async throws -> Void) async throws -> Double {
        var times: [Double] = []
        for _ in 0..<count { times.append(try await time(body)) }
        return times.sorted()[count / 2]
    }

    func report(_ title: String, _ value: Double, _ unit: String, target: Double? = nil, digits: Int = 2) {
        let mark = target.map { String(format: " %@ (≤ %g)", value > $0 ? "✗" : "✓", $0) } ?? ""
        print("    \(title.padded(to: 54))" + String(format: "%.*f %@", digits, value, unit) + mark)
    }
}
