internal import PeriluneRecords

/// The analyzer of a script's tokens for ``ScriptCheck``.
struct ScriptReader {
    /// The names that are available to a script.
    struct Surroundings {
        /// The global variables.
        var globals: Set<String> = []
        /// The names in the tables of the standard libraries, such as `os` and `string`, by table.
        var members: [String: Set<String>] = [:]
        /// The registered modules.
        var modules: [RegisteredModule] = []
        /// Returns whether a Lua module exists.
        var hasModule: (String) -> Bool = { _ in false }
    }

    /// The options of an automation.
    private static let automationOptions = [
        "db", "description", "durable", "enabled", "interrupted", "keep", "key", "max", "mode", "name", "on", "on_code_change",
        "on_failure", "retry", "run", "when",
    ]
    /// Library functions that a host may withhold.
    private static let withheldMembers: Set<String> = [
        "os.execute", "os.exit", "os.getenv", "os.remove", "os.rename", "os.tmpname", "os.setlocale", "string.dump",
        "io.close", "io.flush", "io.input", "io.lines", "io.open", "io.output", "io.popen", "io.read", "io.tmpfile", "io.type",
        "io.write",
        "package.cpath", "package.loaded", "package.loadlib", "package.path", "package.preload", "package.searchers",
        "package.searchpath",
        "debug.debug", "debug.gethook", "debug.getinfo", "debug.getlocal", "debug.getmetatable", "debug.getregistry",
        "debug.getupvalue", "debug.getuservalue", "debug.sethook", "debug.setlocal", "debug.setmetatable", "debug.setupvalue",
        "debug.setuservalue", "debug.traceback", "debug.upvalueid", "debug.upvaluejoin", "debug.setcstacklimit",
    ]

    /// Global names of standard Lua that a sandbox may lack.
    private static let standardNames: Set<String> = ["io", "os", "debug", "package", "dofile", "loadfile", "collectgarbage"]

    private let surroundings: Surroundings
    private let tokens: [LuaTokens.Token]
    private let lines: [Int]
    private var check = ScriptCheck()
    /// The registered modules, by the names of the variables to which the script assigns them.
    private var modulesByLocal: [String: RegisteredModule] = [:]
    /// The names of the variables that the script declares or assigns anywhere.
    private var declared: Set<String> = []
    /// The keys of table constructors.
    private var keys: Set<String> = []

    init(_ text: [UInt8], _ surroundings: Surroundings) {
        let read = LuaTokens(text)
        (tokens, lines) = (read.tokens, read.lines)
        self.surroundings = surroundings
    }

    /// Analyzes the tokens.
    ///
    /// - Parameter functions: The names of functions that the script must define, with dots.
    mutating func read(defining functions: [String]) -> ScriptCheck {
        collectDeclarations()
        for index in tokens.indices { read(at: index) }
        for function in functions where !defines(function) {
            add(
                .missing, "the script does not define the function `\(function)`", nil,
                nearestName(to: function, among: definedFunctions()))
        }
        check.findings.sort { ($0.line ?? .max) < ($1.line ?? .max) }
        return check
    }

    private mutating func add(_ kind: ScriptCheck.Finding.Kind, _ message: String, _ index: Int?, _ suggestion: String? = nil) {
        let finding = ScriptCheck.Finding(kind: kind, message: message, line: index.map { lines[$0] }, suggestion: suggestion)
        if !check.findings.contains(finding) { check.findings.append(finding) }
    }

    private subscript(_ index: Int) -> LuaTokens.Token? { tokens.indices.contains(index) ? tokens[index] : nil }

    private func name(_ index: Int) -> String? {
        if case .name(let name)? = self[index] { name } else { nil }
    }

    private func isSign(_ sign: String, _ index: Int) -> Bool { self[index] == .sign(sign) }

    private func isKeyword(_ word: String, _ index: Int) -> Bool { self[index] == .keyword(word) }

    /// Returns whether a name is a field, a method or a label instead of a variable.
    private func isField(_ index: Int) -> Bool {
        isSign(".", index - 1) || isSign(":", index - 1) || isKeyword("goto", index - 1) || isSign("::", index - 1)
    }

    // MARK: - Declarations

    private mutating func collectDeclarations() {
        for index in tokens.indices {
            switch tokens[index] {
            case .keyword("local"), .keyword("for"): declareList(from: index + 1)
            case .keyword("function"): declareFunction(at: index)
            case .sign("="): declareAssigned(before: index)
            default: break
            }
        }
        declared.formUnion(keys)
    }

    /// Records a variable, with the module that the script assigns to it. The uses of a variable that may have another value are not
    /// checked.
    private mutating func declare(_ name: String, as module: RegisteredModule? = nil) {
        if declared.insert(name).inserted {
            modulesByLocal[name] = module
        } else if modulesByLocal[name]?.name != module?.name {
            modulesByLocal[name] = nil
        }
    }

    /// Declares the names in a list such as `a, b <const>, c`, with the values that follow.
    private mutating func declareList(from start: Int) {
        var (index, names) = (start, [String]())
        while let name = name(index) {
            names.append(name)
            index += 1
            if isSign("<", index) { index += 3 }
            guard isSign(",", index) else { break }
            index += 1
        }
        declare(names, valuesAfter: index)
    }

    private mutating func declare(_ names: [String], valuesAfter index: Int) {
        let modules = isSign("=", index) ? requiredModules(at: index + 1) : []
        for (position, name) in names.enumerated() { declare(name, as: position < modules.count ? modules[position] : nil) }
    }

    private mutating func declareFunction(at index: Int) {
        var index = index + 1
        if let name = name(index) {
            if isSign(".", index + 1) || isSign(":", index + 1) { declared.insert(name) } else { declare(name) }
        }
        while self[index] != nil, !isSign("(", index) { index += 1 }
        index += 1
        while let name = name(index) {
            declare(name)
            index += isSign(",", index + 1) ? 2 : 1
        }
        // In a method, `self` is declared implicitly.
        declared.insert("self")
    }

    /// Declares the names in an assignment such as `a, b = ...`, and the keys in table constructors.
    private mutating func declareAssigned(before equals: Int) {
        var (index, first, names) = (equals - 1, equals, [String]())
        while let name = name(index), !isField(index) {
            names.insert(name, at: 0)
            first = index
            guard isSign(",", index - 1) else { break }
            index -= 2
        }
        if isSign("{", first - 1) || isSign(",", first - 1) {
            keys.formUnion(names)
        } else {
            declare(names, valuesAfter: equals)
        }
    }

    /// Returns the values in a list such as `require "a", require("b")`: modules, or `nil` for other values. The list may end early.
    private func requiredModules(at start: Int) -> [RegisteredModule?] {
        var (index, modules) = (start, [RegisteredModule?]())
        while true {
            let isCall = requiredName(at: index) != nil
            let end = !isCall ? index + 1 : isSign("(", index + 1) ? index + 4 : index + 2
            // In `require("a").b` or `require("a") or b`, the value is not the module.
            let isPart = [".", ":", "[", "(", "{"].contains { isSign($0, end) } || isKeyword("or", end) || isKeyword("and", end)
            modules.append(isCall && !isPart ? requiredModule(at: index) : nil)
            guard isSign(",", end) else { return modules }
            index = end + 1
        }
    }

    /// Returns the module name in `require "name"` or `require("name")`.
    private func requiredName(at index: Int) -> String? {
        guard name(index) == "require", !isField(index) else { return nil }
        let argument = isSign("(", index + 1) ? index + 2 : index + 1
        guard case .string(let module)? = self[argument] else { return nil }
        return module
    }

    private func requiredModule(at index: Int) -> RegisteredModule? {
        guard let name = requiredName(at: index) else { return nil }
        return surroundings.modules.first { $0.name == name }
    }

    // MARK: - Uses

    private mutating func read(at index: Int) {
        guard let name = name(index) else { return }
        if name == "automation" { readAutomation(at: index) }
        guard !isField(index) else { return }
        if let module = requiredName(at: index) { readRequire(of: module, at: index) }
        // The name is a key in a table constructor, or is assigned.
        if isSign("=", index + 1) { return }
        // The name is an attribute, as in `local x <const>`.
        if ["const", "close"].contains(name), isSign("<", index - 1), isSign(">", index + 1) { return }
        if let module = modulesByLocal[name] { readUse(of: module, after: index) }
        readGlobal(name, at: index)
    }

    private mutating func readRequire(of name: String, at index: Int) {
        if !check.modules.contains(name) { check.modules.append(name) }
        if let module = requiredModule(at: index) {
            readUse(of: module, after: isSign("(", index + 1) ? index + 3 : index + 1)
            return
        }
        guard !surroundings.hasModule(name) else { return }
        add(.module, "module `\(name)` not found", index, nearestName(to: name, among: surroundings.modules.map(\.name)))
    }

    /// Reads the use of a function, `.f` or `:f`, after a module.
    private mutating func readUse(of module: RegisteredModule, after index: Int) {
        guard isSign(".", index + 1) || isSign(":", index + 1), let name = name(index + 2) else { return }
        guard let function = module.functions.first(where: { $0.name == name }) else {
            add(
                .function, "the module `\(module.name)` has no function `\(name)`", index + 2,
                nearestName(to: name, among: module.functions.map(\.name)))
            return
        }
        if isSign(":", index + 1) {
            add(
                .function, "`\(module.name).\(name)` is a function, not a method: call it with a dot", index + 2,
                "\(module.name).\(name)")
        }
        let use = ScriptCheck.Use(module: module.name, function: name, effect: function.effect)
        if !check.uses.contains(use) { check.uses.append(use) }
    }

    private mutating func readGlobal(_ name: String, at index: Int) {
        guard !declared.contains(name) else { return }
        guard surroundings.globals.contains(name) else {
            if Self.standardNames.contains(name) { return add(.withheld, "this host does not give scripts `\(name)`", index) }
            let names = surroundings.globals.union(declared).filter { !$0.hasPrefix("_") }
            return add(.global, "no variable `\(name)` is defined", index, nearestName(to: name, among: names.sorted()))
        }
        guard isSign(".", index + 1), let member = self.name(index + 2), let members = surroundings.members[name],
            !members.contains(member),
            !isSign("=", index + 3)
        else { return }
        let isOfLua = Self.withheldMembers.contains("\(name).\(member)")
        let replacement = isOfLua ? nil : ScriptNames.replacement(forMember: member, of: name)
        if let replacement { return add(.withheld, "Lua has no `\(name).\(member)`; use \(replacement)", index + 2) }
        add(
            .withheld,
            isOfLua ? "this host does not give scripts `\(name).\(member)`" : "no function `\(name).\(member)` exists", index + 2,
            nearestName(to: member, among: members.sorted()).map { "\(name).\($0)" })
    }

    // MARK: - Definitions

    /// Returns whether the script defines a function by `function a.b`, by `a.b =`, or by a key `b` in a table constructor `a`.
    private func defines(_ function: String) -> Bool {
        definedFunctions().contains(function)
    }

    /// Returns the full names of the functions that the script defines, such as `orders.total` for a function in a table.
    private func definedFunctions() -> Set<String> {
        var found: Set<String> = []
        for index in tokens.indices {
            if isKeyword("function", index), let name = path(from: index + 1) { found.insert(name) }
            guard isSign("=", index), let name = path(endingAt: index - 1) else { continue }
            found.insert(name)
            if isSign("{", index + 1) { for key in keys(ofTableAt: index + 1) { found.insert("\(name).\(key.name)") } }
        }
        return found
    }

    /// Returns the path, such as `a.b:c`, that starts at a token.
    private func path(from start: Int) -> String? {
        guard var path = name(start) else { return nil }
        var index = start + 1
        while isSign(".", index) || isSign(":", index), let part = name(index + 1) {
            path += (isSign(":", index) ? ":" : ".") + part
            index += 2
        }
        return path
    }

    /// Returns the path, such as `a.b`, that ends at a token.
    private func path(endingAt end: Int) -> String? {
        guard let last = name(end) else { return nil }
        var (path, index) = (last, end - 1)
        while isSign(".", index), let part = name(index - 1) {
            path = "\(part).\(path)"
            index -= 2
        }
        return path
    }

    /// Returns the keys of a table constructor that are names.
    private func keys(ofTableAt start: Int) -> [(name: String, index: Int)] {
        var keys: [(String, Int)] = []
        var (index, depth, blocks) = (start, 0, 0)
        while let token = self[index] {
            switch token {
            case .sign("{"), .sign("("), .sign("["): depth += 1
            case .sign("}"), .sign(")"), .sign("]"):
                depth -= 1
                if depth == 0 { return keys }
            case .keyword("function"), .keyword("do"), .keyword("then"), .keyword("repeat"): blocks += 1
            // `elseif` ends a block, because its `then` starts another one.
            case .keyword("end"), .keyword("until"), .keyword("elseif"): blocks -= 1
            case .name(let name) where depth == 1 && blocks == 0 && isSign("=", index + 1): keys.append((name, index))
            default: break
            }
            index += 1
        }
        return keys
    }

    // MARK: - Automations

    private mutating func readAutomation(at index: Int) {
        guard isSign(".", index - 1), name(index - 2) == "perilune" else { return }
        let start = isSign("(", index + 1) ? index + 2 : index + 1
        guard isSign("{", start) else { return }
        let keys = keys(ofTableAt: start)
        if let key = keys.first(where: { $0.name == "name" }), case .string(let name)? = self[key.index + 2] {
            check.automations.append(name)
        }
        for key in keys where !Self.automationOptions.contains(key.name) {
            add(
                .automation, "an automation has no option `\(key.name)`", key.index,
                nearestName(to: key.name, among: Self.automationOptions))
        }
        for option in ["name", "on", "run"] where !keys.contains(where: { $0.name == option }) {
            add(.automation, "the automation lacks the option `\(option)`", index)
        }
    }
}
