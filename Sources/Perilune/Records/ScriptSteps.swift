internal import PeriluneLua

/// A chain of method calls in Lua, such as `Author:from("France"):by_name():fetch_all()`.
///
/// The calls are collected and run together when the result is needed, so no intermediate value leaves the host.
struct ScriptSteps: Sendable {
    struct Step: Sendable {
        let name: String
        let arguments: @Sendable (LuaState) throws -> [LuaValue]

        init<each Argument: Encodable & Sendable>(_ name: String, _ argument: repeat each Argument) {
            self.name = name
            arguments = { state in try state.encode(repeat each argument, for: name) }
        }
    }

    /// The calls, in order. The first step is a global name, as in `ScriptHost.call(_:_:)`; all other steps are methods.
    private var steps: [Step]
    /// Whether the first step is a function call. Otherwise, it is the value on which the first method is called.
    private let isCallingFirst: Bool

    init(_ first: Step, isCalling: Bool) {
        steps = [first]
        isCallingFirst = isCalling
    }

    func adding(_ step: Step) -> ScriptSteps {
        var copy = self
        copy.steps.append(step)
        return copy
    }

    /// The names of the steps, for messages.
    var description: String { steps.map(\.name).joined(separator: ":") }

    /// Runs all steps and returns the results of the last step. The caller must have exclusive use of the host.
    func run(in host: isolated ScriptHost) async throws -> [LuaValue] {
        try host.requireOwnState(for: "records that Swift uses")
        let state = host.state
        let list = try state.makeTable(arrayCount: steps.count)
        for (index, step) in steps.enumerated() where index > 0 || isCallingFirst {
            let values = try step.arguments(state)
            let entry = try state.makeTable(arrayCount: values.count, fieldCount: 2)
            try entry.rawSet("name", .string(LuaString(step.name)))
            try entry.rawSet("n", .integer(Int64(values.count)))
            for (position, value) in values.enumerated() { try entry.rawSet(.integer(Int64(position) + 1), value) }
            try list.rawSet(.integer(Int64(isCallingFirst ? index : index - 1) + 1), .table(entry))
        }
        let (start, receiver) = try host.resolve(steps[0].name)
        if isCallingFirst { _ = try host.function(start, named: steps[0].name) }
        return try await state.loadLibrary(Self.driver, named: "steps")
            .callAsync([start, .boolean(isCallingFirst), .table(list)] + receiver)
    }

    /// Lua code that runs the steps: the first step may call a function, and each further step calls a method of the previous result.
    private static let driver = """
        local value, is_calling, steps, receiver = ...
        local unpack, type = table.unpack, type
        local function call(value, step)
          local kind = type(value)
          if kind ~= "table" and kind ~= "userdata" then
            error(step.name .. ": cannot call a method of " .. (kind == "nil" and "nil" or "a " .. kind) .. "", 0)
          end
          local method = value[step.name]
          if method == nil then error(step.name .. ": unknown method", 0) end
          return method(value, unpack(step, 1, step.n))
        end
        local first = 1
        if is_calling then
          local step = steps[1]
          first = 2
          if receiver ~= nil then value = value(receiver, unpack(step, 1, step.n)) else value = value(unpack(step, 1, step.n)) end
        end
        for i = first, #steps do value = call(value, steps[i]) end
        return value
        """
}
