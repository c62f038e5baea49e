/// A script function that reads rows in the measures of pools.
struct PoolConfiguration {
    let name: String
    /// The script that defines the function `read`.
    let script: String

    static let row = "SELECT price FROM product WHERE id = ?"

    static let all = [
        PoolConfiguration("in one access each", "db:read(function(db)", "end)", list: 500, rows: 50),
        PoolConfiguration("statement by statement", "(function()", "end)()", list: 500, rows: 50),
        PoolConfiguration("row by row", "(function()", "end)()", list: 0, rows: 200),
    ]

    /// - Parameters:
    ///   - list: The number of rows to read with one statement.
    ///   - rows: The number of rows to read with one statement each.
    private init(_ name: String, _ begin: String, _ end: String, list: Int, rows: Int) {
        self.name = name
        script = """
            function read(from)
              return \(begin)
                local sum = 0
                if \(list) > 0 then
                  for _, row in ipairs(db:fetch_all("SELECT * FROM product WHERE id BETWEEN ? AND ?", from, from + \(list))) do
                    sum = sum + row.price + #row.name
                  end
                end
                for id = from, from + \(rows) do sum = sum + db:fetch_value("\(Self.row)", id) end
                return sum
              \(end)
            end
            """
    }
}
