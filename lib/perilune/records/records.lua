--- Loads the modules that are needed with the first record class.

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

return record_class
