// A test needs only one import.
@_exported public import Perilune
@_exported public import PeriluneScenarios
