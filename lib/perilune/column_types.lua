--- What the columns of a record hold in Lua: booleans, dates, JSON, enums, types of one's own.

local internal = ...

return {}
