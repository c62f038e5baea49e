import Foundation
import PeriluneDependencies
import Testing

@Suite struct StandardKeyTests {
    @Test func `in tests, the clock is frozen, UUIDs count, and random numbers repeat`() async throws {
        func numbers() async throws -> [UInt64] {
            try await DependencyContainer.withTestScope {
                let date = try await DependencyContainer.date
                #expect(date() == Date(timeIntervalSince1970: 946_684_800))
                let uuid = try await DependencyContainer.uuid
                #expect(uuid().uuidString == "00000000-0000-0000-0000-000000000000")
                #expect(uuid().uuidString == "00000000-0000-0000-0000-000000000001")
                let random = try await DependencyContainer.random
                return (0..<3).map { _ in random.next() }
            }
        }
        let first = try await numbers()
        try await #expect(numbers() == first)
        // SplitMix64 with seed 0, as published by its authors.
        #expect(first == [0xE220_A839_7B1D_CDAF, 0x6E78_9E6A_A1B9_65F4, 0x06C4_5D18_8009_454F])
    }

    @Test(arguments: [DependencyContainer.Context.live, .preview])
    func `in live and previews, date, UUIDs and random numbers come from the machine`(_ context: DependencyContainer.Context)
        async throws
    {
        try await DependencyContainer.inProcess(context) {
            let date = try await DependencyContainer.date
            #expect(abs(date().timeIntervalSinceNow) < 60)
            let uuid = try await DependencyContainer.uuid
            #expect(uuid() != uuid())
            let random = try await DependencyContainer.random
            #expect(random.next() != random.next())
        }
    }

    @Test func `the sources of date, UUIDs and random numbers can be replaced`() async throws {
        let day = Date(timeIntervalSince1970: 86400)
        try await DependencyContainer.with {
            $0.date = .counting(from: day, by: 60)
            $0.uuid = .constant(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)))
            $0.random = .seeded(7)
        } operation: {
            let date = try await DependencyContainer.date
            #expect(date() == day)
            #expect(date() == day + 60)
            try await #expect(DependencyContainer.uuid().uuidString == "01020304-0506-0708-090A-0B0C0D0E0F10")
            let other = RandomSource.seeded(7)
            try await #expect(DependencyContainer.random.next() == other.next())
        }
    }

    @Test func `UUIDs that count continue beyond one byte`() {
        let uuid = UUIDSource.counting
        for _ in 0..<0x123 { _ = uuid() }
        #expect(uuid().uuidString == "00000000-0000-0000-0000-000000000123")
    }

    @Test func `temporary files are in one private folder per process`() throws {
        let first = try TemporaryFolder.path("a.sqlite"), second = try TemporaryFolder.path("a.sqlite")
        #expect(first != second)
        let folder = URL(filePath: first).deletingLastPathComponent()
        #expect(folder == URL(filePath: second).deletingLastPathComponent())
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.path)
        #expect(attributes[.posixPermissions] as? Int == 0o700)
    }
}
