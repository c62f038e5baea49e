--- Fetching records, and the verbs of record classes.

local internal = ...

return {}
