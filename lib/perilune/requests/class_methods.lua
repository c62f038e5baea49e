--- Class methods that start requests: `Author:filter{...}` starts with all authors.

local sources = require "perilune.requests.source"
local request = require "perilune.requests.request"
require "perilune.requests.fetching"
require "perilune.requests.changes"
local on_first_call = require "perilune.runtime.loading"
local native_records = require "perilune.native.records"

on_first_call(request.verbs, "perilune.requests.prepared", { "prepare", "page" })
on_first_call(request.verbs, "perilune.requests.joins", { "join", "left_join", "right_join", "full_join", "cross_join" })
on_first_call(request.derivations, "perilune.requests.joins", { "when", "filter_given" })
on_first_call(request.verbs, "perilune.requests.keyset_pages", { "page_after", "page_before" })
on_first_call(request.verbs, "perilune.requests.batches", { "in_batches" })

local class_request = sources.class_request

--- Returns a method of requests as a class method, which is called on the request for all records of the class.
local function on_class(method)
  return function(class, ...)
    return method(class_request(class), ...)
  end
end

--- The methods of all classes.
local methods = {}
for name, method in pairs(request.class_methods) do methods[name] = method end

for _, list in ipairs{ request.derivations, request.verbs } do
  for name, method in pairs(list) do methods[name] = on_class(method) end
end

for _, name in ipairs{ "filter_key", "filter", "order", "limit" } do
  methods[name] = native_records.derivation(name, methods[name], sources.by_class)
end

--- Returns a request for all records.
function methods.all(class)
  return class_request(class)
end

--- Returns a request for all records, without the default scope of the class.
function methods.unscoped(class)
  return sources.unscoped_request(class)
end

function methods.insert_from(...)
  return require("perilune.requests.inserting").insert_from(...)
end

require("perilune.runtime.arity").limit(methods, "", { all = 0, unscoped = 0 })

--- Returns a named request as a method of the class and of classes that extend it, which may override it.
local function named_request(class, name)
  if sources.of_class(class).requests[name] == nil then return nil end
  return function(any_class, ...)
    local all = class_request(any_class)
    return all[name](all, ...)
  end
end

local class_methods = { methods = methods }

--- Returns the member that requests add to a class under a name: a method, the columns, or a named request; nil if none exists.
function class_methods.member(class, name)
  local method = methods[name]
  if method then return method end
  if name == "c" then return sources.of_class(class):columns_table() end
  if name == "requests" then return sources.of_class(class).requests end
  if name == "expressions" then return sources.of_class(class).expressions end
  return named_request(class, name)
end

return class_methods
