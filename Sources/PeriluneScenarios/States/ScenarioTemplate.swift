internal import PeriluneLua

/// A layer of seed data, defined in `support.lua` or a scenario file.
struct ScenarioTemplate: Sendable, LuaConvertible {
    let name: String
    /// The template on which this one is based; `nil` for the default parent, which is the migrated database.
    let parent: String?
    let file: String
    let line: Int
    /// The time limit for filling the template; `nil` means the general limit.
    let timeout: Duration?

    static var luaTypeName: String { "the definition of a template" }

    static func fromLua(_ value: LuaValue) throws(LuaError) -> ScenarioTemplate {
        let fields = try LuaFields(value)
        return try ScenarioTemplate(
            name: fields.required("name"), parent: fields.optional("on"), file: fields.required("file"),
            line: fields.required("line"), timeout: fields.optional("timeout", as: Duration.self))
    }

    func toLua(in state: LuaState) throws(LuaError) -> LuaValue { try name.toLua(in: state) }
}
