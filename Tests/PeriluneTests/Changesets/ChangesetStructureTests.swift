import Foundation
import Perilune
import Testing

/// The validation of changesets from plan files, which SQLite would trust.
@Suite struct ChangesetStructureTests {
    /// An insert, an update and a delete in `t (id INTEGER PRIMARY KEY, a)`.
    private static let sound: [UInt8] = {
        let one: [UInt8] = [1, 0, 0, 0, 0, 0, 0, 0, 1]
        let header = [UInt8(ascii: "T"), 2, 1, 0, UInt8(ascii: "t"), 0]
        return header + [18, 0] + one + [3, 2] + Array("ab".utf8) + [23, 0] + one + [3, 1, 65] + [0, 5] + [9, 1] + one + [4, 0]
    }()

    @Test func `changesets that SQLite creates are found valid`() {
        #expect(ChangesetStructure.isSound(Data()))
        #expect(ChangesetStructure.isSound(Data(Self.sound)))
        #expect(ChangesetStructure.isSound(Data(Self.sound + Self.sound)))
        #expect(throws: Never.self) { try Changeset(bytes: Data(Self.sound)).inverted() }
    }

    @Test func `truncated changesets are found invalid unless they end between two changes`() {
        let ends = (1..<Self.sound.count).filter { ChangesetStructure.isSound(Data(Self.sound.prefix($0))) }
        #expect(ends == [6, 21, 37])
    }

    @Test(
        arguments: [
            [0x54, 0, 0x74, 0],  // no columns
            [0x54, 1, 0, 0x74, 0],  // no key
            [0x54, 1, 1, 0],  // no name
            [0x54, 1, 1, 0xFF, 0],  // a name that is not UTF-8
            [0x54, 0x8F, 0xFF, 0xFF, 0xFF, 0x7F, 1, 0x74, 0],  // more columns than bytes
            [18, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1],  // a change without a table
            [0x54, 1, 1, 0x74, 0, 18, 0, 5],  // a key that is NULL
            [0x54, 1, 1, 0x74, 0, 18, 0, 0],  // an insert without values
            [0x54, 1, 1, 0x74, 0, 18, 0, 3, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F],  // a length beyond everything
            [0x54, 1, 1, 0x74, 0, 18, 0, 6],  // an unknown type
            [0x54, 1, 1, 0x74, 0, 99, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1],  // an unknown change
            [0x54, 1, 1, 0x74, 0, 23, 0, 0, 0],  // an update of no row
            [0x50, 1, 1, 0x74, 0],  // a patchset
        ] as [[UInt8]]) func `changesets that SQLite cannot create are found invalid`(_ bytes: [UInt8])
    {
        #expect(!ChangesetStructure.isSound(Data(bytes)))
    }

    @Test func `SQLite can read every changeset with a changed byte that is found valid`() {
        var count = 0
        for index in Self.sound.indices {
            for byte in UInt8.min...UInt8.max {
                var bytes = Self.sound
                bytes[index] = byte
                guard ChangesetStructure.isSound(Data(bytes)) else { continue }
                count += 1
                _ = try? Changeset(bytes: Data(bytes)).inverted()
            }
        }
        #expect(count > 1000)
    }
}
