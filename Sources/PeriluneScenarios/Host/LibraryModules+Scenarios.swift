internal import CPeriluneScenarioLibrary
package import PeriluneBindings

extension LibraryModules {
    /// The language of scenarios.
    package static let scenarios = LibraryModules(folder: "scenarios") { perilune_scenario_library_source($0) }
}
