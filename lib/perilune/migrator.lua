--- Migrations: registered by name, run in order, each once.

local internal = ...

return {}
