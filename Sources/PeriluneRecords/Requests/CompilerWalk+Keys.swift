/// Writing of the keys of rows whose associated rows are fetched, as a joined table. The number of the key shows the row that an
/// associated row belongs to. The column names never collide with a script's SQL text.
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

    /// Writes the condition that rows have a key of the joined table.
    mutating func equalKeys(_ hop: Association.Hop, _ number: Int) {
        for index in hop.columns.indices {
            if index > 0 { tokens.add(.and) }
            keyColumn(index, of: hop, number)
            tokens.add(.equals)
            tokens.add(.name, Self.keyName(index).utf8)
        }
    }

    /// Returns for each column whether its keys are numbers that SQLite compares with texts as numbers. An index on the texts
    /// cannot be used then: each text is looked up among the keys.
    private func numberColumns(of reach: Reach) -> [Bool] {
        let areCompared = reach.association.comparesTextsAsNumbers
        guard case .numberedKeys(let rows) = reach.anchor else { return areCompared }
        return areCompared.indices.map { index in areCompared[index] && rows.allSatisfy { $0[index].isNumber } }
    }

    private static func keyName(_ index: Int) -> String { "perilune_key_\(index)" }

    /// - Parameter areNumbers: Whether texts are compared with the keys of a column as numbers.
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

    /// Writes the keys themselves, each preceded by its number.
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
