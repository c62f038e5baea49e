--- Record classes: their room, and requests, whose methods are loaded when a class is first asked for one.

local perilune = require "perilune"
local record = require "perilune.records.records"
local record_classes = require "perilune.requests.record_classes"

function record_classes.load_methods()
  return require "perilune.request_methods"
end

-- Last, so that no class is made while something is missing, because it could not be loaded.
perilune.record = record.new_class
