/// Writing of the parent keys for prefetching, as a joined table of keys and their numbers. The number identifies the parent of each
/// associated row. The column names cannot collide with names in a script's SQL.
extension CompilerWalk {
    mutating func joinKeys(_ reach: Reach, _ number: Int) {
        let hop = reach.association.hops[0]
        let areNumbers = numberColumns(of: reach), meetsTexts = areNumbers.contains(true)
        tokens.add(meetsTexts ? .joinLast : .join)
        tokens.add(.open)
        if case .numberedKeys(let rows) = reach.anchor {
            valueKeys(rows, areNumbers)
        } else {
            jsonKeys(areNumbers)
        }
        if meetsTexts { tokens.add(.ofItsOwn) }
        tokens.add(.close)
        tokens.add(.asKeys)
        equalKeys(hop, number)
    }

    /// Writes the condition that a row has a key of the joined table.
    mutating func equalKeys(_ hop: Association.Hop, _ number: Int) {
        for index in hop.columns.indices {
            if index > 0 { tokens.add(.and) }
            keyColumn(index, of: hop, number)
            tokens.add(.equals)
            tokens.add(.name, Self.keyName(index).utf8)
        }
    }

    /// Returns for each key column whether its keys are numbers that SQLite compares with texts as numbers. An index on such texts is
    /// unusable, so SQLite looks up each text among the keys.
    private func numberColumns(of reach: Reach) -> [Bool] {
        let areCompared = reach.association.comparesTextsAsNumbers
        guard case .numberedKeys(let rows) = reach.anchor else { return areCompared }
        return areCompared.indices.map { index in areCompared[index] && rows.allSatisfy { $0[index].isNumber } }
    }

    private static func keyName(_ index: Int) -> String { "perilune_key_\(index)" }

    /// - Parameter areNumbers: For each key column, whether its keys are compared with texts as numbers.
    private mutating func jsonKeys(_ areNumbers: [Bool]) {
        tokens.add(.selectKeyNumber)
        for (index, isNumber) in areNumbers.enumerated() {
            tokens.add(.comma)
            if areNumbers.count == 1 {
                tokens.add(isNumber ? .numberKeyValue : .keyValue)
            } else {
                if isNumber { tokens.add(.cast) }
                tokens.add(.jsonExtract)
                tokens.add(.element)
                tokens.add(number: index)
                tokens.add(.close)
                if isNumber { tokens.add(.asNumber) }
            }
            tokens.add(.as)
            tokens.add(.name, Self.keyName(index).utf8)
        }
        tokens.add(.fromJSON)
        tokens.add(.keys)
        tokens.add(.close)
    }

    /// Writes the keys as VALUES, each with its number.
    private mutating func valueKeys(_ rows: [[Value]], _ areNumbers: [Bool]) {
        tokens.add(.select)
        list(0...areNumbers.count) { walk, index in
            let isNumber = index > 0 && areNumbers[index - 1]
            if isNumber { walk.tokens.add(.cast) }
            walk.tokens.add(.name, "column\(index + 1)".utf8)
            if isNumber { walk.tokens.add(.asNumber) }
            walk.tokens.add(.as)
            if index == 0 { walk.tokens.add(.keyNumber) } else { walk.tokens.add(.name, Self.keyName(index - 1).utf8) }
        }
        tokens.add(.from)
        tokens.add(.open)
        tokens.add(.values)
        list(rows.indices) { walk, index in
            walk.tokens.add(.open)
            walk.tokens.add(.text, "\(index + 1)".utf8)
            for value in rows[index] {
                walk.tokens.add(.comma)
                walk.value(value)
            }
            walk.tokens.add(.close)
        }
        tokens.add(.close)
    }
}
