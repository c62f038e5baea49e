internal import Logging
internal import PeriluneBindings
internal import PeriluneDependencies
internal import PeriluneLua

/// Swift modules that scripts can require.
extension ScriptHost {
    /// Registers Swift functions as a module that scripts load with `require`.
    ///
    /// ```swift
    /// try await host.register(module: "mail") {
    ///     $0.function("send", "Queues a letter.", effect: .external) {
    ///         (to: String, body: String) in try await mailer.send(to, body)
    ///     }
    /// }
    /// ```
    ///
    /// Replaces a module that was registered with the same name, unless a script has already required it.
    ///
    /// - Parameters:
    ///   - name: The module name for `require`, which may contain dots.
    ///   - documentation: A description of the module for people.
    ///   - define: A closure that adds the functions.
    /// - Throws: `LuaError` with code `usage` if a script has already required a module with this name, because the script would keep the
    ///   previous module; if the name is reserved for a Lua library or `perilune`; if the result of a function is not `Encodable`; or if
    ///   `parameters` of a function has too many names, or one twice.
    public func register(module name: String, _ documentation: String = "", _ define: @Sendable (ScriptModule) -> Void) throws {
        let module = ScriptModule(name)
        define(module)
        if let failure = module.failure { throw failure }
        try modules.add(RegisteredModule(name: name, documentation: documentation, functions: module.functions))
    }

    /// The registered modules, ordered by name, for example to generate a manual or editor completions.
    public var registeredModules: [RegisteredModule] { modules.all }
}

extension ScriptHost.Configuration {
    /// Returns the handler that receives calls with external effects instead of executing them: the recorder, or in previews a handler that
    /// logs the calls. Returns `nil` if the calls are executed.
    func effects(in environment: ScriptEnvironment) -> EffectHandler? {
        if let effectRecorder {
            return { name, arguments in effectRecorder.record(PreviewEffect(name: name, arguments: arguments)) }
        }
        guard environment.context == .preview else { return nil }
        return { [logger = environment.logger] name, arguments in
            logger.notice("not performed in a preview: \(name)(\(arguments.joined(separator: ", ")))", source: "script")
        }
    }
}
