/// The failures of measures: reports each missing program once, and collects failures for the summary at the end.
struct Problems {
    private(set) var failures: [String] = []
    private var missing: Set<String> = []
    private var failed: Set<String> = []

    /// Returns whether the contestant is missing or has already failed this measure.
    func hasFailed(_ contestant: String, _ measure: String) -> Bool {
        missing.contains(contestant) || failed.contains("\(contestant) \(measure)")
    }

    mutating func note(_ failure: RunFailure, contestant: String, measure: String) {
        switch failure {
        case .missing(let cure):
            missing.insert(contestant)
            print("skipped: \(cure.trimmed)")
        case .failed(let message):
            failed.insert("\(contestant) \(measure)")
            failures.append("\(measure), \(contestant): \(message.trimmed)")
        }
    }
}

extension String {
    var trimmed: String {
        var text = Substring(self)
        while let last = text.last, last.isWhitespace { text.removeLast() }
        return String(text)
    }
}
