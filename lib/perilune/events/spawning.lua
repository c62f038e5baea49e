--- A runner's hook for the tasks of a script: `spawning.watch(task, call)` is called with each spawned task and its function, and
-- returns the function to call instead. nil without a hook.

return { watch = nil }
