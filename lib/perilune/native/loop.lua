---@meta perilune.native.loop
--- The event loop of scripts. Implemented in Swift (LoopBinding.swift). A *source*, identified by a number, makes the loop call
-- functions. A *scope*, identified by a number, groups the sources that end together, for example with an automation.

---@class perilune.native.loop
local native = {}

---@param seconds number
---@param period? number seconds between calls; nil for a single call
---@param f function
---@param keeps_alive? boolean whether a script waits for it; true by default
---@param is_due? boolean whether it is called at once, even if a clock that is set by hand does not move
---@return integer source
function native.start_timer(seconds, period, f, keeps_alive, is_due) end

--- Calls a function once, the next time the loop runs.
---@param f function
---@param on_error? fun(err: any)
---@param has_journal boolean
---@param scope? integer
---@param name? string the name of the automation that it runs
---@return integer source
---@return (fun(): string[], integer, string, string?)? journal returns the SQL that it has executed, the number of statements, its
---  output, and the traceback of its error
function native.start(f, on_error, has_journal, scope, name) end

--- Returns the current task if a journal is kept for it.
---@return integer? source
function native.current() end

--- Adds text to the printed output of the current run.
---@param text string
function native.note_output(text) end

--- Reports an error without ending anything, like an unhandled error.
---@param err any
---@param scope integer
---@param what string a description of the failure
---@return boolean is_heard whether a handler of the script or the program has received it
function native.report(err, scope, what) end

--- Calls a function whenever the program receives a signal.
---@param name string
---@param f fun(name: string)
---@return integer source
function native.on_signal(name, f) end

---@param source integer
---@return boolean
function native.is_live(source) end

--- Stops a source.
---@param source integer
---@param interrupts boolean whether to interrupt an active call
---@return boolean was_live
---@return boolean has_begun whether it has been called
function native.stop(source, interrupts) end

--- Returns the time of the loop's clock in seconds.
---@return number
function native.now() end

---@param f? fun(err: any) receives the errors of sources in this scope
function native.on_error(f) end

--- Returns the current scope, to which new sources belong. Raises if this scope has ended.
---@return integer
function native.scope() end

--- Assigns the following calls within the same run to a scope.
---@param scope? integer
---@return integer? former
function native.enter_scope(scope) end

---@param scope integer
function native.end_scope(scope) end

---@async
---@param seconds number
function native.sleep(seconds) end

--- Ends the calling task without raising an error: its coroutine is dropped, and its error handler is called.
---@async
function native.abandon() end

--- Returns a new place to wait at.
---@return integer
function native.make_place() end

--- Waits until the place is released.
---@async
---@param place integer
function native.wait(place) end

---@param place integer
function native.release(place) end

--- Returns the kind of a source, other than the given ones, that keeps the script alive or receives signals; nil if there is no
-- such source.
---@param numbers integer[]
---@return string? kind
function native.other_source(numbers) end

return native
