--- All methods of requests. The modules of associations and observations add some of them.

local request = require "perilune.requests.request"
require "perilune.associations.association"
require "perilune.associations.links"
require "perilune.associations.conditions"

require "perilune.runtime.loading"(request.derivations, "perilune.requests.nearest", { "nearest" })
require "perilune.runtime.loading"(request.verbs, "perilune.associations.creating", { "build", "insert", "insert_all", "find_or_build", "find_or_insert" })

--- Calls a function with the records (or rows): first with the current ones, then after each transaction that changed them. Without
-- a function, returns an observation for `for records in observation:values() do`. See `db:observe`.
local function observe(self, ...)
  return require("perilune.events.value_observation").of_request(self, ...)
end

--- Writes a record together with its associated records. See `nested.save`.
local function save_nested(...)
  return require("perilune.associations.nested").save(...)
end

request.add_verbs{ observe = observe }
request.add_class_methods{ save_nested = save_nested }

-- This module must be loaded last, because it copies the methods that exist when it is loaded.
return require "perilune.requests.class_methods"
