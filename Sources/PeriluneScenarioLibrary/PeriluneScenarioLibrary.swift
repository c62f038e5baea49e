// The modules below lib/scenarios: the language of scenarios. The build writes `embeddedScenariosModules`: see EmbedModules.
