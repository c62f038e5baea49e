--- Record classes with requests; the methods of requests are loaded on first use.

local perilune = require "perilune"
local record_class = require "perilune.records.records"
local record_classes = require "perilune.requests.record_classes"

function record_classes.load_methods()
  return require "perilune.request_methods"
end

-- Assigned last, so that no class can be made if one of the modules could not be loaded.
perilune.record = require("perilune.runtime.arity").limited("perilune.record", record_class.new_class)
