internal import CPeriluneConsoleLibrary
internal import PeriluneBindings

// The Lua modules of the console, which the binary carries.

extension LibraryModules {
    /// What the console adds to a state.
    static let console = LibraryModules(folder: "console") { perilune_console_library_source($0) }
}
