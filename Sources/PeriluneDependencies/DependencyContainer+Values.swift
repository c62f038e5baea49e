/// The sources of dependency values.
extension DependencyContainer {
    /// A set of dependency sources, which a call of `prepare` or `with` or a test fills.
    ///
    /// The property of a dependency is `nil` unless it is set here.
    public struct Values: Sendable {
        /// A source, and closures that create and close its value.
        struct Entry: Sendable {
            let name: String
            let source: any Sendable
            let make: @Sendable (DependencyContainer) async throws -> any Sendable
            let close: @Sendable (any Sendable) throws -> Void

            init<Key: DependencyContainer.Key>(_ key: Key.Type, _ source: Key.Source) {
                name = Key.name
                self.source = source
                make = { scope in try await Key.makeValue(of: source, in: scope) }
                // The cast succeeds: only values made by `make` are closed.
                close = { value in try Key.close(value as! Key.Value, of: source) }
            }
        }

        private(set) var entries: [ObjectIdentifier: Entry] = [:]
        /// The context that replaces the outer one; `nil` to keep the outer one.
        var context: DependencyContainer.Context?

        init() {}

        /// The source set for a key.
        public subscript<Key: DependencyContainer.Key>(key: Key.Type) -> Key.Source? {
            get { entries[ObjectIdentifier(key)]?.source as? Key.Source }
            set { entries[ObjectIdentifier(key)] = newValue.map { Entry(key, $0) } }
        }

        mutating func add(_ other: Values) {
            entries.merge(other.entries) { $1 }
        }

        mutating func remove(_ other: Values) {
            for key in other.entries.keys { entries[key] = nil }
        }
    }
}
