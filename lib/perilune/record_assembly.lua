--- Record classes with requests; the methods of requests are loaded on first use.

local native_records = require "perilune.native.records"
local record_class = require "perilune.records.class"

require "perilune.records.failures"
require "perilune.records.columns"
require "perilune.records.fetching"
require "perilune.records.writing"
require "perilune.records.behaviours"
require "perilune.records.types"
require "perilune.records.persistence"
native_records.set_callbacks(require "perilune.records.native_callbacks")
native_records.set_record_verbs(record_class.instance_verbs)
local added_members = require "perilune.requests.added_members"

function added_members.load_methods()
  return require "perilune.request_assembly"
end

return { record = record_class.new_class }
