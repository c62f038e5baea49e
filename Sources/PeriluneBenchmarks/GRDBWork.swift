import Foundation
import GRDB

/// The benchmark work in Swift with GRDB's query interface and records. It prints results in the line format described in timing.lua.
struct GRDBWork {
    let queue: DatabaseQueue

    init(path: String) throws {
        queue = try DatabaseQueue(path: path)
    }

    /// Runs a measure. Returns an exit status.
    func run(_ measure: String) throws -> Int32 {
        switch measure {
        case "find": try repeating(find)
        case "filter_key": try repeating(filterKey)
        case "record_fetch_all": try repeating(fetchAll)
        case "request_built_anew": try repeating(requests)
        case "request_kept": try repeating(keptRequest)
        case "including": try repeating(including)
        default: return 2
        }
        return 0
    }

    private func repeating(_ work: (Database) throws -> String) throws {
        for _ in 0..<3 {
            let wall = DispatchTime.now().uptimeNanoseconds, processor = clock()
            let outcome = try queue.read(work)
            let used = Double(clock() - processor) / Double(CLOCKS_PER_SEC)
            let elapsed = Double(DispatchTime.now().uptimeNanoseconds - wall) / 1e9
            print(String(format: "sample\t%.6f\t%.6f\t%@", used, elapsed, outcome))
        }
    }

    // MARK: - The work of work.lua

    private func find(_ db: Database) throws -> String {
        var sum = 0, id = 1
        for _ in 0..<200_000 {
            id = id * 7919 % 10007 + 1
            sum += try Product.find(db, key: id).quantity
        }
        return "\(sum)"
    }

    private func filterKey(_ db: Database) throws -> String {
        var sum = 0, id = 1
        for _ in 0..<200_000 {
            id = id * 7919 % 10007 + 1
            sum += try Product.filter(key: id).fetchOne(db)!.quantity
        }
        return "\(sum)"
    }

    private func fetchAll(_ db: Database) throws -> String {
        let products = try Product.fetchAll(db)
        return "\(products.count)/\(products.reduce(0) { $0 + $1.quantity })"
    }

    private func requests(_ db: Database) throws -> String {
        var count = 0
        for quantity in 1...20_000 {
            let request = Product.filter(Column("quantity") == quantity % 1000).order(Column("id")).limit(10)
            count += try request.fetchAll(db).count
        }
        return "\(count)"
    }

    private func keptRequest(_ db: Database) throws -> String {
        let request = Product.filter(Column("quantity") == 77).order(Column("id")).limit(10)
        var count = 0
        for _ in 0..<20_000 { count += try request.fetchAll(db).count }
        return "\(count)"
    }

    private func including(_ db: Database) throws -> String {
        var count = 0
        for _ in 0..<20 {
            let request = Invoice.including(all: Invoice.lines.order(Column("InvoiceLineId"))).order(Column("InvoiceId"))
            let invoices = try request.asRequest(of: InvoiceWithLines.self).fetchAll(db)
            count += invoices.reduce(0) { $0 + $1.invoiceLines.count }
        }
        return "\(count)"
    }
}

/// A record decoded manually by column index, which is the fastest way.
private struct Product: FetchableRecord, TableRecord {
    static let databaseTableName = "product"
    let id: Int
    let name: String
    let price: Double?
    let quantity: Int
    let note: String?

    init(row: Row) {
        (id, name, price, quantity, note) = (row[0], row[1], row[2], row[3], row[4])
    }
}

private struct Line: FetchableRecord, TableRecord {
    static let databaseTableName = "InvoiceLine"
    let id, invoice, track, quantity: Int
    let price: Double

    init(row: Row) {
        (id, invoice, track, price, quantity) = (row[0], row[1], row[2], row[3], row[4])
    }
}

private struct Invoice: FetchableRecord, TableRecord {
    static let databaseTableName = "Invoice"
    static let lines = hasMany(Line.self, key: "invoiceLines", using: ForeignKey(["InvoiceId"]))
    let id, customer: Int
    let date: String
    let address, city, state, country, code: String?
    let total: Double

    init(row: Row) {
        (id, customer, date, address, city) = (row[0], row[1], row[2], row[3], row[4])
        (state, country, code, total) = (row[5], row[6], row[7], row[8])
    }
}

private struct InvoiceWithLines: FetchableRecord {
    let invoice: Invoice
    let invoiceLines: [Line]

    init(row: Row) throws {
        invoice = Invoice(row: row)
        invoiceLines = row["invoiceLines"]
    }
}
