internal import PeriluneBindings
internal import PeriluneIsolation
internal import PeriluneLua

/// The modules that a host provides for scripts in another process. Swift functions are called in the host, and Lua source text is
/// requested from the host.
struct HostModules {
    let questions: HostQuestions

    /// Makes `require` request modules from the host first.
    func install(in state: LuaState) throws {
        // `unowned` is safe, because the state owns the resolver.
        try state.addModuleResolver { [unowned state] name in
            let found = try questions.ask(.findModule, [.text(name)])
            switch found.first?.text {
            case "source" where found.count == 3: return .source(LuaString(found[1].bytes ?? []), name: found[2].text ?? name)
            case "functions" where found.count == 2:
                return .value(.table(try table(of: name, found[1].elements ?? [], in: state)))
            default: return nil
            }
        }
    }

    /// Creates the Lua table of a module.
    ///
    /// - Parameter functions: Pairs of a function's name and whether it is asynchronous.
    private func table(of module: String, _ functions: [WireValue], in state: LuaState) throws -> LuaTable {
        let table = try state.makeTable(fieldCount: functions.count)
        for function in functions {
            guard let parts = function.elements, parts.count == 2, let name = parts[0].text else { continue }
            let value =
                try parts[1].booleanValue == true
                ? asynchronous(name, of: module, in: state) : synchronous(name, of: module, in: state)
            try table.rawSet(.string(LuaString(name)), .function(value))
        }
        return table
    }

    private func synchronous(_ name: String, of module: String, in state: LuaState) throws -> LuaFunction {
        try state.makeFunction("\(module).\(name)") { [unowned state] arguments in
            let results = try questions.ask(.callAtOnce, [.text(module), .text(name), .copies(of: arguments.values)])
            return try results.lua(in: state)
        }
    }

    private func asynchronous(_ name: String, of module: String, in state: LuaState) throws -> LuaFunction {
        try state.makeAsyncFunction(
            "\(module).\(name)", stayingOnThread: true,
            request: { values in .perform((HostQuestions.servedRequest, try WireValue.copies(of: values))) },
            perform: { [questions] request, arguments in
                try await questions.call([.text(module), .text(name), arguments], in: request)
            },
            results: { [unowned state] results in try results.lua(in: state) })
    }
}

/// A replacement for `print` that sends the scripts' output to the host.
enum WorkerOutput {
    /// Replaces `print` with a function that sends each line to the host.
    static func install(in state: LuaState, _ questions: HostQuestions) throws {
        try ScriptOutput.replacePrint(in: state) { [unowned state] line in
            guard state.takeOutput(ofBytes: line.bytes.count + 1) else {
                throw BindingError("output", "print: the script has written more than its limit of output")
            }
            for start in stride(from: 0, to: max(line.bytes.count, 1), by: pieceInBytes) {
                let end = min(start + pieceInBytes, line.bytes.count)
                questions.tell(.print, [.string(Array(line.bytes[start..<end])), .boolean(end == line.bytes.count)])
            }
        }
    }

    /// The maximum number of bytes in one message.
    private static let pieceInBytes = 1 << 20
}
