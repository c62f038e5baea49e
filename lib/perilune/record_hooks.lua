--- What runs before, around and after the writing of a record.

local internal = ...

return {}
