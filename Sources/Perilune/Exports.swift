// One import provides everything that the quick start needs.
@_exported public import PeriluneDependencies
@_exported public import PeriluneLua
