internal import PeriluneLua

/// Static checks of scripts.
extension ScriptHost {
    /// Checks a script without running it: its syntax, its use of the program's modules and functions, its global variables, and its
    /// definitions of automations.
    ///
    /// Register the modules before the check. If scripts run in another process, the script is compiled there. See <doc:Tenants>.
    ///
    /// - Parameters:
    ///   - source: The source text.
    ///   - name: The name of the script in messages.
    ///   - functions: The names of functions that the program will call, such as `orders.total`.
    /// - Throws: `LuaError` if the host is closed; `CancellationError` if the task is cancelled.
    public nonisolated func check(source: String, named name: String = "script", defining functions: [String] = []) async throws
        -> ScriptCheck
    {
        try await exclusively { host in
            let text = Array(source.utf8)
            if let fault = try await host.syntaxFault(in: text, named: name) {
                var check = ScriptCheck()
                check.findings = [fault]
                return check
            }
            var reader = ScriptReader(text, try host.surroundings())
            return reader.read(defining: functions)
        }
    }

    /// Checks the script of an error. Returns help and a suggested name if the check finds a mistake in the failed line, such as a
    /// misspelled function of a module.
    func helpFromCheck(_ error: LuaError) -> (help: String, suggestions: [String])? {
        let message = error.message
        guard
            message.hasPrefix("attempt to call a nil") || message.hasPrefix("attempt to index a nil")
                || message.contains(" not found")
                || message.contains("argument 1: expected")
        else { return nil }
        guard let file = error.file, let line = error.line, let text = sourceTexts.text(of: sourceTexts.fullName(file)) else {
            return nil
        }
        if let help = ScriptNames.loopHelp(for: message, at: line, of: text) { return (help, []) }
        guard let surroundings = try? surroundings() else { return nil }
        var reader = ScriptReader(text, surroundings)
        // A worker process does not know the registered modules, so a module that was found may be missing in the check.
        var kinds: [ScriptCheck.Finding.Kind] = [.function, .global, .withheld]
        if message.contains(" not found") { kinds.append(.module) }
        guard let finding = reader.read(defining: []).findings.first(where: { $0.line == line && kinds.contains($0.kind) }) else {
            return nil
        }
        let question = finding.suggestion.map { "did you mean `\($0)`?" }
        // For a global, the error message is sufficient, because it already names the variable.
        let parts = [finding.kind == .global ? nil : finding.message, question].compactMap(\.self)
        return parts.isEmpty ? nil : (parts.joined(separator: "; "), finding.suggestion.map { [$0] } ?? [])
    }

    private func syntaxFault(in text: [UInt8], named name: String) async throws -> ScriptCheck.Finding? {
        do {
            try await backend.compile(text, named: name, in: self)
            return nil
        } catch let error as LuaError where error.code == .syntax || error.code == .memory && error.line == nil {
            return ScriptCheck.Finding(kind: .syntax, message: error.message, line: error.line, suggestion: nil)
        }
    }

    /// Returns the names that are available to the host's scripts.
    private func surroundings() throws -> ScriptReader.Surroundings {
        var surroundings = ScriptReader.Surroundings()
        surroundings.modules = modules.all
        let globals = try state.globals
        for (key, value) in try globals.pairs() {
            guard case .string(let name) = key else { continue }
            surroundings.globals.insert(name.description)
            guard case .table(let table) = value, LuaLibraries.tableNames.contains(name.description) else { continue }
            surroundings.members[name.description] = Set(
                try table.pairs().compactMap { if case .string(let name) = $0.0 { name.description } else { nil } })
        }
        let known = Set(LuaLibraries.tableNames + ["_G", "package", "perilune"])
        let hasOwnFiles = searchesFiles
        surroundings.hasModule = { [moduleSources] name in
            known.contains(name) || name.hasPrefix("perilune.") || hasOwnFiles
                || moduleSources.contains { source in ((try? source.module(named: name)) ?? nil) != nil }
        }
        return surroundings
    }
}
