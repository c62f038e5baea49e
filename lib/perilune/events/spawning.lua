--- What whoever runs a script may have done with its tasks: `spawning.watch(task, call)` is given each that is spawned and what it
-- is to call, and returns what it calls instead. nil where nobody asks.

return { watch = nil }
