--- Full-text search: FTS5 tables and the patterns that people type.

local internal = ...

return {}
