---@meta perilune.native.loop
--- What scripts wait for. Swift (LoopBinding.swift) provides it. A *source* is what the loop calls functions for: a number. A
-- *scope* is what ends together, an automation for example: a number.

---@class perilune.native.loop
local native = {}

---@param seconds number
---@param period? number seconds between calls; nil: one call
---@param f function
---@param keeps_alive? boolean whether a script waits for it; true by default
---@return integer source
function native.start_timer(seconds, period, f, keeps_alive) end

--- Calls a function at once, and once.
---@param f function
---@param on_error? fun(err: any)
---@param has_journal boolean
---@param scope? integer
---@return integer source
---@return (fun(): string[], integer, string, string?)? journal returns the SQL that it has executed, the number of statements, what it has
---  printed, and the traceback of its error
function native.start(f, on_error, has_journal, scope) end

--- The task that runs now, if a journal of it is kept.
---@return integer? source
function native.current() end

--- Adds text to what that run has printed.
---@param text string
function native.note_output(text) end

--- Reports an error that ends nothing, as an unhandled one.
---@param err any
---@param scope integer
---@return boolean is_heard whether a handler of the script, or the program, hears of it
function native.report(err, scope) end

--- Calls a function whenever the program gets a signal.
---@param name string
---@param f fun(name: string)
---@return integer source
function native.on_signal(name, f) end

---@param source integer
---@return boolean
function native.is_live(source) end

--- Ends a source.
---@param source integer
---@param interrupts boolean whether a call that goes on is interrupted
---@return boolean was_live
---@return boolean has_begun whether it has been called
function native.stop(source, interrupts) end

--- The seconds that the clock of the loop shows.
---@return number
function native.now() end

---@param f? fun(err: any) what gets the errors of sources of this scope
function native.on_error(f) end

--- The scope of what is started now; raises if that has ended.
---@return integer
function native.scope() end

--- What is called from now on belongs to a scope, inside of the same run.
---@param scope? integer
---@return integer? former
function native.enter_scope(scope) end

---@param scope integer
function native.end_scope(scope) end

---@async
---@param seconds number
function native.sleep(seconds) end

--- Ends the task that calls it, without raising anything: its coroutine is dropped. The error handler of the task is called.
---@async
function native.abandon() end

--- A place to wait at.
---@return integer
function native.make_place() end

--- Waits until the place is released.
---@async
---@param place integer
function native.wait(place) end

---@param place integer
function native.release(place) end

return native
