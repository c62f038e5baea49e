--- Record classes, with requests, whose methods are loaded on first use.

local perilune = require "perilune"
local record = require "perilune.records.records"
local record_classes = require "perilune.requests.record_classes"

function record_classes.load_methods()
  return require "perilune.request_methods"
end

-- Last, so that no class is made while something is missing, because it could not be loaded.
perilune.record = record.new_class
