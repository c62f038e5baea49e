/// A formatter for tables that are fitted to the terminal, with a note on hidden parts.
struct FittedTableFormatter: ResultFormatter {
    private var rows = ConsoleRows()
    private let colors: Colors
    private let width: Int

    init(columns: [String], colors: Colors, width: Int) {
        rows.columns = columns
        self.colors = colors
        self.width = width
    }

    mutating func write(_ row: [Cell], to output: inout [UInt8]) {
        rows.head.append(row)
        rows.count += 1
    }

    mutating func end(_ output: inout [UInt8]) {
        let table = FittedTable(rows, width: width)
        output.append(table.text(colors))
        if let cut = table.cut { output.append(colors.dim("\(cut) · --format box shows all") + "\n") }
    }
}
