// The modules below lib/reference: the reference of what scripts see, and the code that prints it. The build writes `embeddedReferenceModules`: see EmbedModules.
