// One import gives all that a test needs.
@_exported public import Perilune
@_exported public import PeriluneScenarios
