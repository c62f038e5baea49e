/// Returns the most similar name by edit distance (insert, delete, replace, swap neighbors), ignoring case.
///
/// - Parameters:
///   - name: The unknown name.
///   - names: The existing names. Among equally similar names, the first one with the same initial takes precedence, otherwise the first
///     one.
/// - Returns: A name that differs in at most a third of its letters, but always at least one letter; otherwise a name with one or more
///   words added or removed at its end, such as `order_by` for `order`; otherwise `nil`.
package func nearestName(to name: String, among names: some Sequence<String>) -> String? {
    let written = foldedScalars(name)
    // Scripts determine the length of names, and the cost of the comparison is quadratic, so long names are not compared.
    guard !written.isEmpty, written.count <= longestComparedName else { return nil }
    var nearest: (name: String, rank: (distance: Int, otherInitial: Int))?
    for candidate in names where candidate != name {
        let scalars = foldedScalars(candidate)
        let limit = max(1, max(written.count, scalars.count) / 3)
        guard abs(scalars.count - written.count) <= limit, scalars.count <= longestComparedName else { continue }
        let distance = editDistance(written, scalars)
        // A name of one letter has distance 1 to any other.
        guard distance <= limit, distance < scalars.count else { continue }
        let rank = (distance: distance, otherInitial: scalars.first == written.first ? 0 : 1)
        if nearest.map({ rank < $0.rank }) ?? true { nearest = (candidate, rank) }
    }
    return nearest?.name ?? nameWithAWordMoreOrLess(written, names)
}

/// Returns the shortest name that extends the given name by further words, or that the given name extends.
private func nameWithAWordMoreOrLess(_ written: [Unicode.Scalar], _ names: some Sequence<String>) -> String? {
    var found: (name: String, length: Int)?
    for candidate in names {
        let scalars = foldedScalars(candidate)
        let (shorter, longer) = scalars.count < written.count ? (scalars, written) : (written, scalars)
        guard shorter.count >= 3, longer.starts(with: shorter + ["_"]), scalars.count < found?.length ?? .max else { continue }
        found = (candidate, scalars.count)
    }
    return found?.name
}

/// Returns the existing names for an error message about an unknown name: all names of a short list, otherwise the most similar ones first.
package func listedNames(near name: String, among names: [String]) -> String {
    guard names.count > longestNameList else { return names.joined(separator: ", ") }
    let written = letterPairs(name)
    let ranked = names.enumerated().map { (similarity: similarity(written, letterPairs($1)), position: $0, name: $1) }
        .sorted { ($1.similarity, $0.position) < ($0.similarity, $1.position) }
    return ranked.prefix(listedNearestNames).map(\.name).joined(separator: ", ") + ", ..."
}

private let longestNameList = 12
private let listedNearestNames = 6

/// Returns the pairs of neighboring letters, including those at the start and end of the name.
private func letterPairs(_ name: String) -> Set<[Unicode.Scalar]> {
    let scalars = foldedScalars("_\(name)_")
    return Set(zip(scalars, scalars.dropFirst()).map { [$0, $1] })
}

/// Returns the Dice coefficient of two sets, from 0 to 1.
private func similarity(_ a: Set<[Unicode.Scalar]>, _ b: Set<[Unicode.Scalar]>) -> Double {
    Double(2 * a.intersection(b).count) / Double(max(1, a.count + b.count))
}

private let longestComparedName = 100

private func foldedScalars(_ name: String) -> [Unicode.Scalar] {
    // Only the part that is compared, because lowercasing a long name also takes time.
    Array(String(name.unicodeScalars.prefix(longestComparedName + 1)).lowercased().unicodeScalars)
}

/// Returns the restricted Damerau-Levenshtein distance, which allows no further edits inside a swapped pair.
private func editDistance(_ a: [Unicode.Scalar], _ b: [Unicode.Scalar]) -> Int {
    if a.isEmpty || b.isEmpty { return max(a.count, b.count) }
    var beforePrevious: [Int] = []
    var previous = Array(0...b.count)
    for i in 1...a.count {
        var current = [i]
        current.reserveCapacity(b.count + 1)
        for j in 1...b.count {
            let replacing = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)
            var best = min(previous[j] + 1, current[j - 1] + 1, replacing)
            if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] {
                best = min(best, beforePrevious[j - 2] + 1)
            }
            current.append(best)
        }
        (beforePrevious, previous) = (previous, current)
    }
    return previous[b.count]
}
