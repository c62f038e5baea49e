// The modules below lib/perilune: what every script sees. The build writes `embeddedPeriluneModules`: see EmbedModules.
