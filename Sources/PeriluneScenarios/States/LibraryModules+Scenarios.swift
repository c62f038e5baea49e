package import PeriluneBindings
package import PeriluneLua
internal import PeriluneReferenceLibrary
internal import PeriluneScenarioLibrary

/// The Lua modules that are available only in scenarios and in the command.
extension LibraryModules {
    /// The Lua modules of the scenario language.
    package static let scenarios = LibraryModules(folder: "scenarios", embeddedScenariosModules)

    /// The reference of the Lua API, with the modules that generate types for editors and help from it.
    package static let reference = LibraryModules(folder: "reference", embeddedReferenceModules)

    /// Returns a Lua state with the modules of the reference, and with the function `source`, which returns the text of a page.
    package static func referenceState() throws -> LuaState {
        let state = try LuaState()
        try state.addModuleResolver { name in
            reference.source(of: name).map { .source(LuaString($0), name: name) }
        }
        try state.globals.setFunction("source") { arguments in
            let page: String = try arguments.get(1)
            return [reference.source(of: "reference.api.\(page)").map { .string(LuaString($0)) } ?? .nil]
        }
        return state
    }
}
