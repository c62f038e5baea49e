// The modules in lib/reference: the reference of the scripts' API, and the code that prints it. The build writes
// `embeddedReferenceModules`: see EmbedModules.
