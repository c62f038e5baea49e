import Testing

@testable import Perilune

@Suite struct TracebackTests {
    @Test func `the calls in a traceback are parsed, innermost first`() {
        let traceback = """
            stack traceback:
            \t[C]: in function 'error'
            \tshop.lua:3: in upvalue 'check'
            \tshop.lua:9: in function 'shop.total'
            \t[lib] perilune/runtime/row.lua:4: in method 'get'
            \t(...tail calls...)
            \ta b: c.lua:12: in function <a b: c.lua:10>
            \t...\t(skipping 12 levels)
            \t(command line):1: in main chunk
            \t[C]: in ?
            """
        #expect(
            Traceback.frames(of: traceback) == [
                ErrorReport.Frame(name: "check", file: "shop.lua", line: 3),
                ErrorReport.Frame(name: "shop.total", file: "shop.lua", line: 9),
                ErrorReport.Frame(name: "function", file: "a b: c.lua", line: 12),
                ErrorReport.Frame(name: "main", file: "(command line)", line: 1),
            ])
    }

    @Test(arguments: ["", "nonsense", ": in ", "x: in y", ":1: in main chunk", "\0\u{FFFD}"])
    func `text that is not a traceback has no calls`(text: String) {
        #expect(Traceback.frames(of: text).count <= 1)
    }
}
