internal import PeriluneRecords

/// Suggestions in reports about unknown names.
extension ErrorReport {
    /// Suggests the existing name that is nearest to an unknown name. If no name is near, sets another help text.
    package mutating func suggest(_ name: String, among names: [String], otherwise other: String? = nil) {
        guard let nearest = nearestName(to: name, among: names) else {
            help = other
            return
        }
        help = "did you mean `\(nearest)`?"
        suggestions = [nearest]
    }
}
