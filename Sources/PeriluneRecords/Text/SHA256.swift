/// The hash function SHA-256, which identifies scripts and schemas by their content in files that other processes read.
///
/// Neither the standard library nor Foundation provides it on Linux, `Hasher` returns different values in each process, and building the
/// package that provides it takes longer than building this one.
///
/// - SeeAlso: FIPS 180-4, section 6.2.
package struct SHA256 {
    private var state = initial
    /// The bytes of the last, incomplete block.
    private var rest: [UInt8] = []
    private var count: UInt64 = 0

    /// Creates the hash of an empty input.
    package init() {}

    /// Returns the hash in hexadecimal digits, as `sha256sum` prints it.
    package static func hash(_ bytes: some Sequence<UInt8>) -> String {
        var hash = SHA256()
        Array(bytes).withUnsafeBytes { hash.add($0) }
        return hash.digits()
    }

    /// Appends bytes to the input.
    package mutating func add(_ bytes: UnsafeRawBufferPointer) {
        count += UInt64(bytes.count)
        var bytes = bytes
        if !rest.isEmpty {
            let missing = min(64 - rest.count, bytes.count)
            rest.append(contentsOf: bytes.prefix(missing))
            bytes = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(missing))
            guard rest.count == 64 else { return }
            rest.withUnsafeBytes { Self.compress($0, into: &state) }
            rest.removeAll(keepingCapacity: true)
        }
        let whole = bytes.count & ~63
        Self.compress(UnsafeRawBufferPointer(rebasing: bytes[..<whole]), into: &state)
        rest.append(contentsOf: bytes[whole...])
    }

    /// Returns the hash of the whole input in hexadecimal digits.
    package consuming func digits() -> String {
        let zeros = (119 - rest.count) % 64
        let bits = count * 8
        let last =
            rest + [0x80] + Array(repeating: 0, count: zeros) + (0..<8).map { UInt8(truncatingIfNeeded: bits >> (56 - 8 * $0)) }
        last.withUnsafeBytes { Self.compress($0, into: &state) }
        return (0..<8).map { Self.hexadecimal(state[$0]) }.joined()
    }

    /// Processes complete blocks of 64 bytes.
    private static func compress(_ blocks: UnsafeRawBufferPointer, into state: inout SIMD8<UInt32>) {
        withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 64) { words in
            constants.withUnsafeBufferPointer { constants in
                for start in stride(from: 0, to: blocks.count, by: 64) {
                    for index in 0..<16 {
                        words[index] = UInt32(bigEndian: blocks.loadUnaligned(fromByteOffset: start + 4 * index, as: UInt32.self))
                    }
                    expand(words)
                    state = state &+ mixed(state, words, constants)
                }
            }
        }
    }

    private static func expand(_ words: UnsafeMutableBufferPointer<UInt32>) {
        for index in 16..<64 {
            let (early, late) = (words[index - 15], words[index - 2])
            let first = rotated(early, 7) ^ rotated(early, 18) ^ early &>> 3
            let second = rotated(late, 17) ^ rotated(late, 19) ^ late &>> 10
            words[index] = words[index - 16] &+ first &+ words[index - 7] &+ second
        }
    }

    private static func mixed(
        _ state: SIMD8<UInt32>, _ words: UnsafeMutableBufferPointer<UInt32>, _ constants: UnsafeBufferPointer<UInt32>
    ) -> SIMD8<UInt32> {
        var (a, b, c, d) = (state[0], state[1], state[2], state[3])
        var (e, f, g, h) = (state[4], state[5], state[6], state[7])
        for index in 0..<64 {
            let choice = (e & f) ^ (~e & g)
            let first = h &+ (rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)) &+ choice &+ constants[index] &+ words[index]
            let majority = (a & b) ^ (a & c) ^ (b & c)
            let second = (rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) &+ majority
            (h, g, f, e) = (g, f, e, d &+ first)
            (d, c, b, a) = (c, b, a, first &+ second)
        }
        return SIMD8(a, b, c, d, e, f, g, h)
    }

    private static func rotated(_ word: UInt32, _ count: UInt32) -> UInt32 {
        word &>> count | word &<< (32 - count)
    }

    private static func hexadecimal(_ word: UInt32) -> String {
        let digits = String(word, radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }

    private static let initial = SIMD8<UInt32>(
        0x6A09_E667, 0xBB67_AE85, 0x3C6E_F372, 0xA54F_F53A, 0x510E_527F, 0x9B05_688C, 0x1F83_D9AB, 0x5BE0_CD19)

    private static let constants: [UInt32] = [
        0x428A_2F98, 0x7137_4491, 0xB5C0_FBCF, 0xE9B5_DBA5, 0x3956_C25B, 0x59F1_11F1, 0x923F_82A4, 0xAB1C_5ED5,
        0xD807_AA98, 0x1283_5B01, 0x2431_85BE, 0x550C_7DC3, 0x72BE_5D74, 0x80DE_B1FE, 0x9BDC_06A7, 0xC19B_F174,
        0xE49B_69C1, 0xEFBE_4786, 0x0FC1_9DC6, 0x240C_A1CC, 0x2DE9_2C6F, 0x4A74_84AA, 0x5CB0_A9DC, 0x76F9_88DA,
        0x983E_5152, 0xA831_C66D, 0xB003_27C8, 0xBF59_7FC7, 0xC6E0_0BF3, 0xD5A7_9147, 0x06CA_6351, 0x1429_2967,
        0x27B7_0A85, 0x2E1B_2138, 0x4D2C_6DFC, 0x5338_0D13, 0x650A_7354, 0x766A_0ABB, 0x81C2_C92E, 0x9272_2C85,
        0xA2BF_E8A1, 0xA81A_664B, 0xC24B_8B70, 0xC76C_51A3, 0xD192_E819, 0xD699_0624, 0xF40E_3585, 0x106A_A070,
        0x19A4_C116, 0x1E37_6C08, 0x2748_774C, 0x34B0_BCB5, 0x391C_0CB3, 0x4ED8_AA4A, 0x5B9C_CA4F, 0x682E_6FF3,
        0x748F_82EE, 0x78A5_636F, 0x84C8_7814, 0x8CC7_0208, 0x90BE_FFFA, 0xA450_6CEB, 0xBEF9_A3F7, 0xC671_78F2,
    ]
}
