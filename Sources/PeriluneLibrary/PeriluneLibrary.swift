// The modules in lib/perilune, which every script has. The build writes `embeddedPeriluneModules`: see EmbedModules.
