--- A hook for tasks of a script, for test runners: `spawning.watch(task, call)` is called for each spawned task with its function, and
-- returns the function to call instead. It is nil without a hook.

return { watch = nil }
