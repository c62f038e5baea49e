import PeriluneRecords
import Testing

@Suite struct MigrationNamesTests {
    @Test func `migration names keep their order`() throws {
        var names = MigrationNames()
        for name in ["b", "a", "c"] { try names.register(name) }
        #expect(names.registered == ["b", "a", "c"])
    }

    @Test func `an invalid list of migrations registers nothing`() throws {
        var names = MigrationNames()
        try names.register("a")
        #expect(throws: MigrationError.self) { try names.register("a") }
        #expect(throws: MigrationError.self) { try names.register("") }
        #expect(throws: MigrationError.self) { try names.register("x\0y") }
        #expect(throws: MigrationError.self) { try names.register("c", merges: ["b", "a"]) }
        #expect(names.registered == ["a"])
        #expect(!names.isKnown("b"))
        try names.register("b")
    }

    @Test func `names of merged migrations are known and cannot be registered`() throws {
        var names = MigrationNames()
        try names.register("c", merges: ["a", "b", "c"])
        #expect(names.isKnown("a") && names.isKnown("c"))
        #expect(throws: MigrationError.self) { try names.register("a") }
        #expect(throws: MigrationError.self) { try names.register("d", merges: ["b"]) }
    }

    @Test func `a target migration must be registered and must not precede applied ones`() throws {
        var names = MigrationNames()
        for name in ["a", "b", "c"] { try names.register(name) }
        try names.check(target: "b", applied: ["a", "b", "unknown"])
        #expect(throws: MigrationError.self) { try names.check(target: "a", applied: ["c"]) }
        let error = #expect(throws: MigrationError.self) { try names.check(target: "x", applied: []) }
        #expect(error?.kind == .unknown(name: "x", names: ["a", "b", "c"]))
    }
}
