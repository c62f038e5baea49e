internal import PeriluneBindings
internal import PeriluneConsoleLibrary

// The Lua modules of the console, which the binary carries.

extension LibraryModules {
    /// What the console adds to a state.
    static let console = LibraryModules(folder: "console", embeddedConsoleModules)
}
