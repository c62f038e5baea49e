---@meta _
---@page Observation
---Observing changes: each changed row, or the results of a query when they change.

---@class perilune.database
local db = {}

---@class perilune.transaction_observer_options
---@field on_change? fun(event: perilune.change_event) called for each changed row after its statement has succeeded; must not use the database
---@field will_commit? fun() may raise an error, which rolls back and becomes the error of the commit; must not use the database
---@field did_commit? fun(db: perilune.database)
---@field did_rollback? fun(db: perilune.database)
---@field tables? string|perilune.record_class|(string|perilune.record_class)[] limits all functions to changes of these tables: `did_commit` is called only for transactions that have changed them
---@field operations? string|("insert"|"update"|"delete")[] limits all functions to these operations, in the same way

---A changed row.
---@class perilune.change_event
---@field operation "insert"|"update"|"delete"|"many" `"many"` represents changes from elsewhere beyond the 100,000 that are kept
---@field table string
---@field row_id integer?
---@field old table<string, any>? the row before the change: its columns by name, with strings for texts and BLOBs
---@field new table<string, any>? the row after the change

---Calls functions when transactions change the database. Changes that a savepoint or a failed statement has undone are not reported.
---Commits from other scripts and from Swift are reported when the script next waits or ends, without `will_commit`. Errors in `did_commit`
---and `did_rollback` go to `perilune.on_error`.
---```lua
---local observer = db:observe_transactions{
---  tables = "tag",
---  on_change = function(event) print(event.operation, event.new.name) end,
---  did_commit = function(db)
---    print(db:fetch_value("SELECT COUNT(*) FROM tag"))
---  end,
---}
---db:execute("INSERT INTO tag (name) VALUES ('ships')")
-----> insert	ships
-----> 3
---observer:cancel()
---```
---@param options perilune.transaction_observer_options
---@return perilune.transaction_observer
---@raises argument: no function is given, or an option is not valid; unknown_table: the table does not exist; unknown_operation: the operation does not exist
---@access any
---@module events.transaction_observers
function db:observe_transactions(options) end

---Calls a function once, after the commit of the current transaction, or of the next one if none is open.
---```lua
---db:write(function(db)
---  db:after_next_transaction(function() print("committed") end)
---  print("inside")
---end)
-----> inside
-----> committed
---```
---@param on_commit fun(db: perilune.database)
---@param on_rollback? fun(db: perilune.database) called instead if the transaction is rolled back
---@return perilune.transaction_observer
---@raises argument: an argument is not a function
---@access any
---@module events.transaction_observers
function db:after_next_transaction(on_commit, on_rollback) end

---A transaction observer, made by `db:observe_transactions`. It is active until it is cancelled or the database is closed.
---@class perilune.transaction_observer
---@access any
local observer = {}

---Ends the observation.
---```lua
---local observer = db:observe_transactions{
---  on_change = function(event) print(event.operation) end,
---}
---observer:cancel()
---db:execute("DELETE FROM tag")
---```
---@raises none
function observer:cancel() end

---Returns whether the observer is active.
---```lua
---local observer = db:observe_transactions{ on_change = function() end }
---print(observer:is_active())  --> true
---observer:cancel()
---print(observer:is_active())  --> false
---```
---@return boolean
---@raises none
function observer:is_active() end

---@class perilune.observation_options
---@field looks_first? boolean true to skip the current value; false by default
---@field poll? perilune.duration how often to check whether another process has written; never by default
---@field on_error? fun(err: perilune.error, retry_in?: number) gets errors of fetching and of the callback; a failed fetch is retried after 1, 2, 4 … 60 seconds. Without a callback, `next` and `try_next` raise the error
---@field keeps_alive? boolean false to let a script with nothing else to do end; true by default
---@field duplicates? boolean true to deliver a value that equals the previous one; false by default
---@field map? fun(...: any): ... gets the fetched results, outside of the database, and returns the value
---@field regions? perilune.region|perilune.region[] the regions to observe, instead of all that the fetch reads

---A part of a database: a table name, some columns of a table, or everything that a request reads, except prefetched associations.
---@alias perilune.region string|{ table: string, columns?: string|string[] }|perilune.request|perilune.record_class

---Observes the results of a function. The callback gets the current results, and then the new results after each transaction, of any
---writer, that has changed them. Equal results are delivered once. Without a callback, the script asks the observation for values.
---```lua
---local observation = db:observe(function(db)
---  return db:fetch_value("SELECT COUNT(*) FROM tag")
---end)
---print(observation:next())  --> 2
---db:execute("INSERT INTO tag (name) VALUES ('ships')")
---print(observation:next())  --> 3
---observation:cancel()
---```
---@param fetch fun(db: perilune.database): ...
---@param callback? fun(...: any)
---@param options? perilune.observation_options
---@return perilune.observation
---@raises argument: an argument is not a function; unknown_option: an option does not exist
---@access outside of observers
---@module events.value_observation
function db:observe(fetch, callback, options) end

---Observes parts of a database, regardless of their contents. The callback is called without arguments after each transaction that may have
---changed them. Without a callback, `observation:next()` waits for such a transaction.
---```lua
---local observation = db:observe_region(
---  { "tag", { table = "book", columns = { "title" } } }
---)
---db:execute("INSERT INTO tag (name) VALUES ('ships')")
---observation:next()
---print("changed")  --> changed
---observation:cancel()
---```
---@param regions perilune.region|perilune.region[]
---@param callback? fun()
---@param options? { keeps_alive?: boolean, on_error?: (fun(err: perilune.error)), poll?: perilune.duration } as for `db:observe`
---@return perilune.observation
---@raises argument: an argument is not valid; unknown_table: a table does not exist; unknown_column: a column does not exist; unknown_option: an option does not exist
---@access outside of observers
---@module events.value_observation
function db:observe_region(regions, callback, options) end

---Returns an observation that several functions share. It fetches once for all of them, and only while at least one of them is subscribed.
---```lua
---local shared = db:share_observation(Tag:order("name"), {
---  keeps_alive = false,
---})
---local list = shared:observe(function(tags) print(#tags) end)
---local title = shared:observe(function(tags) print("tags: " .. #tags) end)
---print(shared:count())  --> 2
---shared:cancel()
---```
---@param source (fun(db: perilune.database): ...)|perilune.request|perilune.record_class
---@param options? perilune.observation_options the options of `db:observe`, except `looks_first`
---@return perilune.shared_observation
---@raises argument: an argument is not valid; unknown_option: an option does not exist
---@access outside of observers
---@module events.value_observation
function db:share_observation(source, options) end

---Makes observations fetch again after changes that were not observed. It also affects observations in other hosts and in Swift.
---```lua
---db:notify_changes("tag")
---```
---@param ... string the tables that have changed; all by default
---@raises unknown_table: the table does not exist
---@access any
---@module events.value_observation
function db:notify_changes(...) end

---An observation, made by `db:observe` or `request:observe`.
---@class perilune.observation
---@access any
local observation = {}

---Waits for the next value that differs from the last one, and returns it. It returns nothing once the observation is cancelled.
---```lua
---local observation = Tag:order("name"):observe()
---print(#observation:next())  --> 2
---observation:cancel()
---```
---@return any ...
---@waits until there is a value
---@access outside blocks
---@raises usage: the observation has a callback; yield: it cannot wait here
function observation:next() end

---Checks for a new value without waiting.
---```lua
---local observation = Tag:select("name"):observe()
---print((observation:try_next()))  --> true
---print((observation:try_next()))  --> false
---observation:cancel()
---```
---@return boolean is_new
---@return any ... the value
---@raises usage: the observation has a callback
function observation:try_next() end

---Iterates over values, waiting for each. The loop ends when the observation does, and leaving the loop cancels the observation. A nil
---value is `perilune.null`.
---```lua
---for tags in Tag:order("name"):observe():values() do
---  print(#tags)
---  if #tags == 3 then break end
---  db:execute("INSERT INTO tag (name) VALUES ('ships')")
---end
-----> 2
-----> 3
---```
---@return fun(): any
---@waits until there is a value
---@access outside blocks
---@raises usage: the observation has a callback; yield: it cannot wait here
function observation:values() end

---Stops fetching and delivering until `resume`; returns whether it was running.
---```lua
---local observation = Tag:order("name"):observe()
---print(observation:pause(), observation:try_next())  --> true	false
---observation:resume()
---print((observation:try_next()))  --> true
---observation:cancel()
---```
---@return boolean was_running
---@raises none
function observation:pause() end

---Resumes after `pause`, and first checks for a new value; returns whether it was paused.
---```lua
---local observation = Tag:order("name"):observe()
---print(observation:resume())  --> false
---observation:cancel()
---```
---@return boolean was_paused
---@raises none
function observation:resume() end

---Returns whether the observation is active.
---```lua
---local observation = Tag:order("name"):observe()
---observation:pause()
---print(observation:is_paused())  --> true
---observation:cancel()
---```
---@return boolean
---@raises none
function observation:is_paused() end

---Observes another source from now on, such as the next page of a list. The new value is delivered unless it equals the last one.
---```lua
---local observation = Tag:order("name"):limit(1):observe()
---print(observation:next()[1].name)  --> sea
---observation:change(Tag:order("name"):limit(1, 1))
---print(observation:next()[1].name)  --> travel
---observation:cancel()
---```
---@param source (fun(db: perilune.database): ...)|perilune.request|perilune.record_class
---@raises argument: `source` is neither a function nor a request
function observation:change(source) end

---Ends the observation; returns whether it was active.
---```lua
---local observation = Tag:order("name"):observe()
---print(observation:cancel(), observation:cancel())  --> true	false
---```
---@return boolean was_active
---@raises none
function observation:cancel() end

---Returns whether the observation is active.
---```lua
---local observation = Tag:order("name"):observe()
---print(observation:is_active())  --> true
---observation:cancel()
---```
---@return boolean
---@raises none
function observation:is_active() end

---A shared observation, made by `db:share_observation`. As a `<close>` variable it is cancelled at the end of its scope.
---@class perilune.shared_observation
---@access any
local shared = {}

---Calls a function with the current value once it is available, and then with each new one.
---```lua
---local shared = db:share_observation(Tag, { keeps_alive = false })
---local subscription = shared:observe(function(tags) print(#tags) end)
---subscription:cancel()
---```
---@param callback fun(...: any)
---@return perilune.subscription
---@raises argument: the argument is not a function; usage: the observation was cancelled
function shared:observe(callback) end

---Returns the number of subscribed functions.
---```lua
---print(db:share_observation(Tag):count())  --> 0
---```
---@return integer
---@raises none
function shared:count() end

---Ends the observation for all functions; returns whether it was active.
---```lua
---local shared = db:share_observation(Tag)
---print(shared:cancel(), shared:cancel())  --> true	false
---```
---@return boolean was_active
---@raises none
function shared:cancel() end

---A subscription, made by `shared:observe`. As a `<close>` variable it is cancelled at the end of its scope.
---@class perilune.subscription
---@access any
local subscription = {}

---Ends the subscription; returns whether it was active.
---```lua
---local subscription = db:share_observation(Tag, { keeps_alive = false })
---  :observe(function(tags) print(#tags) end)
---print(subscription:cancel(), subscription:cancel())  --> true	false
---```
---@return boolean was_active
---@raises none
function subscription:cancel() end

---Returns whether the subscription is active.
---```lua
---local subscription = db:share_observation(Tag, { keeps_alive = false })
---  :observe(function(tags) print(#tags) end)
---print(subscription:is_active())  --> true
---subscription:cancel()
---```
---@return boolean
---@raises none
function subscription:is_active() end
