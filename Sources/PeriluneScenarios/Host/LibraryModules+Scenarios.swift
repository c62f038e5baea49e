package import PeriluneBindings
internal import PeriluneReferenceLibrary
internal import PeriluneScenarioLibrary

/// The Lua modules that only scenarios and the command carry.
extension LibraryModules {
    /// The language of scenarios.
    package static let scenarios = LibraryModules(folder: "scenarios", embeddedScenariosModules)

    /// The reference of what scripts and scenarios see, and what is made from it: types for editors, and help.
    package static let reference = LibraryModules(folder: "reference", embeddedReferenceModules)
}
