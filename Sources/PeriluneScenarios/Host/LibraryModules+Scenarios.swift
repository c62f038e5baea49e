internal import CPeriluneReferenceLibrary
internal import CPeriluneScenarioLibrary
package import PeriluneBindings

/// The Lua modules that only scenarios and the command carry.
extension LibraryModules {
    /// The language of scenarios.
    package static let scenarios = LibraryModules(folder: "scenarios") { perilune_scenario_library_source($0) }

    /// The reference of what scripts and scenarios see, and what is made from it: types for editors, and help.
    package static let reference = LibraryModules(folder: "reference") { perilune_reference_library_source($0) }
}
