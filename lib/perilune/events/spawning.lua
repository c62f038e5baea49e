--- The hook of a runner on the tasks of a script: `spawning.watch(task, call)` is called with each spawned task and what it
-- is to call, and returns what it calls instead. nil without a hook.

return { watch = nil }
