/// The executable lines of a compiled chunk, for coverage.
extension LuaCompiledChunk {
    /// The lines that have instructions.
    package var activeLines: Set<Int> {
        var reader = BytecodeReader(bytes)
        return reader.readLines()
    }
}

/// A reader of line information in Lua 5.4 bytecode.
///
/// - SeeAlso: Lua's `ldump.c` and `lundump.c`, which write and read bytecode, and `luaG_getfuncline` in `ldebug.c`.
private struct BytecodeReader {
    private let bytes: [UInt8]
    private var position = 0
    private var lines: Set<Int> = []
    /// Whether the bytecode is malformed, which stops the reader.
    private var isBroken = false

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    mutating func readLines() -> Set<Int> {
        // The header: signature, version, format, check bytes, three sizes, an integer, a number. The number of upvalues follows.
        guard bytes.starts(with: [0x1B, 0x4C, 0x75, 0x61, 0x54, 0]) else { return [] }
        skip(4 + 1 + 1 + 6 + 3 + 8 + 8 + 1)
        readFunction()
        return isBroken ? [] : lines
    }

    // MARK: - Pieces

    private mutating func skip(_ count: Int) {
        guard count >= 0, count <= bytes.count - position else { return isBroken = true }
        position += count
    }

    private mutating func readByte() -> UInt8 {
        guard position < bytes.count else {
            isBroken = true
            return 0x80
        }
        defer { position += 1 }
        return bytes[position]
    }

    /// Reads a number: seven bits per byte, most significant first, with the eighth bit set in the last byte.
    private mutating func readNumber() -> Int {
        var number = 0
        while !isBroken {
            let byte = readByte()
            number = number << 7 | Int(byte & 0x7F)
            if byte & 0x80 != 0 { return number }
            guard number < 1 << 40 else { break }
        }
        isBroken = true
        return 0
    }

    private mutating func skipString() {
        skip(max(0, readNumber() - 1))
    }

    private mutating func readList(_ read: (inout BytecodeReader, Int) -> Void) {
        let count = readNumber()
        for index in 0..<count where !isBroken { read(&self, index) }
    }

    // MARK: - Functions

    private mutating func readFunction() {
        skipString()
        let firstLine = readNumber()
        _ = readNumber()
        _ = readByte()
        let isVariadic = readByte() != 0
        _ = readByte()
        skip(readNumber() * 4)
        readList { reader, _ in reader.skipConstant() }
        readList { reader, _ in reader.skip(3) }
        readList { reader, _ in reader.readFunction() }
        readDebugInformation(firstLine: firstLine, isVariadic: isVariadic)
    }

    private mutating func skipConstant() {
        switch readByte() {
        case 0x13, 0x03: skip(8)
        case 0x04, 0x14: skipString()
        default: break
        }
    }

    private mutating func readDebugInformation(firstLine: Int, isVariadic: Bool) {
        var steps: [Int8] = []
        readList { reader, _ in steps.append(Int8(bitPattern: reader.readByte())) }
        var absolute: [Int: Int] = [:]
        readList { reader, _ in
            let place = reader.readNumber()
            absolute[place] = reader.readNumber()
        }
        readList { reader, _ in
            reader.skipString()
            _ = (reader.readNumber(), reader.readNumber())
        }
        readList { reader, _ in reader.skipString() }
        var line = firstLine
        for (index, step) in steps.enumerated() {
            // A step of -128 means that the line is in the list of absolute lines.
            line = step == -128 ? absolute[index] ?? line : line + Int(step)
            // The first instruction of a variadic function prepares its arguments and belongs to no line.
            if index > 0 || !isVariadic { lines.insert(line) }
        }
    }
}
