--- What of a record has changed since it was read or written.

local internal = ...

return {}
