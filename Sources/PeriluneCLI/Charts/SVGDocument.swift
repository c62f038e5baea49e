internal import PeriluneScenarios

/// A picture as SVG 1.1 text, with colors that follow the light or dark mode of the page.
struct SVGDocument {
    private var body = ""
    private let width: Double
    private let height: Double
    private let title: String

    init(width: Double, height: Double, title: String) {
        (self.width, self.height, self.title) = (width, height, title)
    }

    /// Adds an SVG element without content.
    mutating func add(_ element: String, _ attributes: (String, Double)..., style: String = "") {
        let numbers = attributes.map { " \($0)=\"\(Self.number($1))\"" }.joined()
        body += "<\(element)\(numbers)\(style.isEmpty ? "" : " class=\"\(style)\"")/>\n"
    }

    mutating func addPath(_ path: String, style: String) {
        body += "<path d=\"\(path)\" class=\"\(style)\"/>\n"
    }

    /// Adds text at a position.
    ///
    /// - Parameter anchor: `start`, `middle` or `end`.
    mutating func addText(_ text: String, x: Double, y: Double, anchor: String = "start", style: String = "") {
        let names = style.isEmpty ? "" : " class=\"\(style)\""
        body +=
            "<text x=\"\(Self.number(x))\" y=\"\(Self.number(y))\" text-anchor=\"\(anchor)\"\(names)>\(MarkupText.escaped(text))</text>\n"
    }

    /// Adds a group of elements with a tooltip.
    mutating func addGroup(title: String, _ fill: (inout SVGDocument) -> Void) {
        body += "<g><title>\(MarkupText.escaped(title))</title>\n"
        fill(&self)
        body += "</g>\n"
    }

    static func number(_ value: Double) -> String {
        let rounded = (value * 10).rounded() / 10
        return rounded == rounded.rounded() ? String(Int(rounded)) : String(rounded)
    }

    var text: String {
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <svg xmlns="http://www.w3.org/2000/svg" width="\(Self.number(width))" height="\(Self.number(height))" \
        viewBox="0 0 \(Self.number(width)) \(Self.number(height))" role="img">
        <title>\(MarkupText.escaped(title))</title>
        <style>
        \(Self.style)
        </style>
        <rect width="100%" height="100%" class="page"/>
        \(body)</svg>

        """
    }

    private static let style = """
        svg { --page: #fff; --ink: #1f2328; --dim: #656d76; --line: #d1d9e0; --head: #eef2f6; --edge: #57606a;
          --s0: #0969da; --s1: #bc4c00; --s2: #1a7f37; --s3: #8250df; --s4: #bf3989; --s5: #4d6a8a }
        @media (prefers-color-scheme: dark) { svg { --page: #0d1117; --ink: #e6edf3; --dim: #8d96a0; --line: #30363d; --head: #1b222c;
          --edge: #8d96a0; --s0: #58a6ff; --s1: #f0883e; --s2: #3fb950; --s3: #bc8cff; --s4: #f778ba; --s5: #9fb8d4 } }
        text { font: 12px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; fill: var(--ink) }
        .title { font-weight: bold } .dim { fill: var(--dim) } .page { fill: var(--page) }
        .axis { stroke: var(--dim); fill: none } .grid { stroke: var(--line); fill: none }
        .box { fill: var(--page); stroke: var(--edge) } .head { fill: var(--head); stroke: var(--edge) }
        .edge { stroke: var(--edge); fill: none; stroke-width: 1.2 } .key { font-weight: bold }
        .b0 { fill: var(--s0) } .b1 { fill: var(--s1) } .b2 { fill: var(--s2) } .b3 { fill: var(--s3) } .b4 { fill: var(--s4) } .b5 { fill: var(--s5) }
        .l0, .l1, .l2, .l3, .l4, .l5 { fill: none; stroke-width: 2; stroke-linejoin: round }
        .l0 { stroke: var(--s0) } .l1 { stroke: var(--s1) } .l2 { stroke: var(--s2) } .l3 { stroke: var(--s3) } .l4 { stroke: var(--s4) } .l5 { stroke: var(--s5) }
        """
}
