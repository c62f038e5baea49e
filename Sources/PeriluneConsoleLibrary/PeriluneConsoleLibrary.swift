// The modules below lib/console. The build writes `embeddedConsoleModules`: see EmbedModules.
