package import PeriluneBindings
internal import PeriluneReferenceLibrary
internal import PeriluneScenarioLibrary

/// The Lua modules that only scenarios and the command carry.
extension LibraryModules {
    /// The language of scenarios.
    package static let scenarios = LibraryModules(folder: "scenarios", embeddedScenariosModules)

    /// The reference for scripts and scenarios, and its generated forms: types for editors, and help.
    package static let reference = LibraryModules(folder: "reference", embeddedReferenceModules)
}
