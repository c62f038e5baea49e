package import PeriluneBindings
internal import PeriluneReferenceLibrary
internal import PeriluneScenarioLibrary

/// The Lua modules that are available only in scenarios and in the command.
extension LibraryModules {
    /// The modules of the scenario language.
    package static let scenarios = LibraryModules(folder: "scenarios", embeddedScenariosModules)

    /// The reference for scripts and scenarios, and the forms generated from it: types for editors, and help.
    package static let reference = LibraryModules(folder: "reference", embeddedReferenceModules)
}
