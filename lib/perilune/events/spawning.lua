--- A hook with which test runners observe the tasks of a script. If it is set, `spawning.watch(task, call)` is called for each spawned task
-- and its function `call`, and returns the function to call instead.

return { watch = nil }
