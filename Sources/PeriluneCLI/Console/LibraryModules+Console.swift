internal import PeriluneBindings
internal import PeriluneConsoleLibrary

// The Lua modules of the console, embedded in the binary.

extension LibraryModules {
    /// The Lua modules that the console adds to a Lua state.
    static let console = LibraryModules(folder: "console", embeddedConsoleModules)
}
