--- The interface to job queues for Swift.

local perilune = require "perilune"

local job_bridge = {}

--- Calls a method of a queue.
function job_bridge.call(name, method, ...)
  local jobs = perilune.jobs(name)
  return jobs[method](jobs, ...)
end

return job_bridge
