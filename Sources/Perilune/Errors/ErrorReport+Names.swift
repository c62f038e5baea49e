internal import PeriluneRecords

/// Suggestions in errors about unknown names.
extension ErrorReport {
    /// Suggests the nearest of the names that exist, or gives other help.
    package mutating func suggest(_ name: String, among names: [String], otherwise other: String? = nil) {
        guard let nearest = nearestName(to: name, among: names) else {
            help = other
            return
        }
        help = "did you mean `\(nearest)`?"
        suggestions = [nearest]
    }
}
