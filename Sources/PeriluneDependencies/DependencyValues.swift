/// What is given for dependencies: by ``Dependencies/prepare(_:)``, by an override, by a test.
///
/// Its properties are `nil` for what is not given.
public struct DependencyValues: Sendable {
    /// A source with what knows its type.
    struct Entry: Sendable {
        let name: String
        let source: any Sendable
        let make: @Sendable (Dependencies) async throws -> any Sendable
        let close: @Sendable (any Sendable) throws -> Void

        init<Key: DependencyKey>(_ key: Key.Type, _ source: Key.Source) {
            name = Key.name
            self.source = source
            make = { scope in try await Key.makeValue(of: source, in: scope) }
            // Only what `make` has made comes here.
            close = { value in try Key.close(value as! Key.Value, of: source) }
        }
    }

    private(set) var entries: [ObjectIdentifier: Entry] = [:]
    /// The context, where it is overridden.
    var context: DependencyContext?

    init() {}

    /// What is given for a key.
    public subscript<Key: DependencyKey>(key: Key.Type) -> Key.Source? {
        get { entries[ObjectIdentifier(key)]?.source as? Key.Source }
        set { entries[ObjectIdentifier(key)] = newValue.map { Entry(key, $0) } }
    }

    mutating func add(_ other: DependencyValues) {
        entries.merge(other.entries) { $1 }
    }

    mutating func remove(_ other: DependencyValues) {
        for key in other.entries.keys { entries[key] = nil }
    }
}
