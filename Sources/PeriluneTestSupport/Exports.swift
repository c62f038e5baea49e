// Makes one import sufficient in tests.
@_exported public import Perilune
@_exported public import PeriluneScenarios
