---@meta _
---@page Expressions
---Conditions and computed columns, written in Lua and checked against the schema.
---
---`Book.c.year` is the column `year`. The operators `+ - * / // % ..` compute, and `& | ~` combine conditions. Lua's operators `<`, `<=`
---and `==` cannot make conditions; use the methods `lt`, `le` and `eq`. Lua's `and` and `or`
---return one of their operands, so `a and b` is the condition `b` alone. Values are written as the column stores them.

---@class perilune.expression
---@access any
---@raises argument: an argument has the wrong type
---@operator add(any): perilune.expression
---@operator sub(any): perilune.expression
---@operator mul(any): perilune.expression
---@operator div(any): perilune.expression
---@operator mod(any): perilune.expression
---@operator idiv(any): perilune.expression
---@operator pow(any): perilune.expression
---@operator unm: perilune.expression
---@operator concat(any): perilune.expression
---@operator band(any): perilune.expression
---@operator bor(any): perilune.expression
---@operator bnot: perilune.expression
local column = {}

---Returns a column by its name, from any table of the request that has it.
---```lua
---print(Book:filter(perilune.column("year"):gt(1850)):fetch_count())  --> 2
---```
---@param name string
---@return perilune.expression
---@raises argument: `name` is not a name
---@module expressions.expression
function perilune.column(name) end

---Returns a value as an expression.
---```lua
---print(Tag:select(perilune.value(7):as("seven")):fetch_one().seven)  --> 7
---```
---@param value perilune.argument
---@return perilune.expression
---@raises argument: SQLite cannot store the value
---@module expressions.expression
function perilune.value(value) end

---Returns SQL text as an expression. Each `?` stands for an argument, which may be an expression.
---```lua
---print(Book:filter(perilune.sql("length(title) > ?", 10)):fetch_count())
-----> 1
---```
---@param text string
---@param ... any one for each `?`, or one table by name
---@return perilune.expression
---@raises argument: the text is empty, or the arguments do not fit
---@module expressions.expression
function perilune.sql(text, ...) end

---Returns a parameter, whose value is passed when a prepared request runs.
---```lua
---local by_year = Book:filter(Book.c.year:gt(perilune.parameter("year")))
---  :prepare()
---print(by_year:fetch_count{ year = 1850 })  --> 2
---```
---@param name string
---@return perilune.expression
---@raises argument: `name` is not a name
---@module expressions.expression
function perilune.parameter(name) end

---Returns `COUNT(*)`.
---```lua
---print(Book:select(perilune.count():as("n")):fetch_one().n)  --> 3
---```
---@return perilune.expression
---@raises none
---@module expressions.expression
function perilune.count() end

---Returns the value that belongs to the first true condition.
---```lua
---local age = perilune.case{
---  { Book.c.year:lt(1850), "old" },
---  otherwise = "new",
---}
---print(Book:select(age:as("age")):order("id"):fetch_values()[1])  --> old
---```
---@param branches { [integer]: { [1]: perilune.expression, [2]: any }, otherwise?: any }
---@return perilune.expression
---@raises argument: a branch is not a pair of a condition and a value
---@module expressions.expression
function perilune.case(branches) end

---Returns the condition that a request has at least one row.
---```lua
---print(
---  Author:filter(
---    perilune.exists(Book:filter("book.author_id = author.id"))
---  ):fetch_count()
---)
-----> 2
---```
---@param request perilune.request
---@return perilune.expression
---@raises argument: `request` is not a request
---@module expressions.expression
function perilune.exists(request) end

---Is equal to a value; `perilune.null` means `is_null`.
---```lua
---print(Book:filter(Book.c.year:eq(1851)):fetch_count())  --> 1
---```
---@param value any
---@return perilune.expression
function column:eq(value) end

---Differs from a value; `perilune.null` means `is_not_null`.
---```lua
---print(Book:filter(Book.c.year:ne(1851)):fetch_count())  --> 2
---```
---@param value any
---@return perilune.expression
function column:ne(value) end

---Is less than a value.
---```lua
---print(Book:filter(Book.c.year:lt(1851)):fetch_count())  --> 1
---```
---@param value any
---@return perilune.expression
function column:lt(value) end

---Is at most a value.
---```lua
---print(Book:filter(Book.c.year:le(1851)):fetch_count())  --> 2
---```
---@param value any
---@return perilune.expression
function column:le(value) end

---Is greater than a value.
---```lua
---print(Book:filter(Book.c.year:gt(1851)):fetch_count())  --> 1
---```
---@param value any
---@return perilune.expression
function column:gt(value) end

---Is at least a value.
---```lua
---print(Book:filter(Book.c.year:ge(1851)):fetch_count())  --> 2
---```
---@param value any
---@return perilune.expression
function column:ge(value) end

---Is identical to a value; NULL is identical to NULL.
---```lua
---print(Author:filter(Author.c.country:is("US")):fetch_count())  --> 1
---```
---@param value any
---@return perilune.expression
function column:is(value) end

---Is not identical to a value; NULL differs from any other value.
---```lua
---print(Author:filter(Author.c.country:is_not("US")):fetch_count())  --> 2
---```
---@param value any
---@return perilune.expression
function column:is_not(value) end

---Is NULL.
---```lua
---print(Author:filter(Author.c.country:is_null()):fetch_count())  --> 1
---```
---@return perilune.expression
function column:is_null() end

---Is not NULL.
---```lua
---print(Author:filter(Author.c.country:is_not_null()):fetch_count())  --> 2
---```
---@return perilune.expression
function column:is_not_null() end

---Is between two values, inclusive.
---```lua
---print(Book:filter(Book.c.year:between(1846, 1851)):fetch_count())  --> 2
---```
---@param low any
---@param high any
---@return perilune.expression
function column:between(low, high) end

---Is in a list, or in the values that a request selects.
---```lua
---print(Book:filter(Book.c.id:is_in{ 1, 3 }):fetch_count())  --> 2
---```
---@param list any[]|perilune.request
---@return perilune.expression
function column:is_in(list) end

---Is not in a list, or in the values that a request selects.
---```lua
---print(Book:filter(Book.c.id:is_not_in{ 1, 3 }):fetch_count())  --> 1
---```
---@param list any[]|perilune.request
---@return perilune.expression
function column:is_not_in(list) end

---Matches a `LIKE` pattern, in which `%` is any text and `_` any character.
---```lua
---print(Book:filter(Book.c.title:like("M%")):fetch_count())  --> 1
---```
---@param pattern string|perilune.expression
---@param escape? string the character that escapes the next one
---@return perilune.expression
function column:like(pattern, escape) end

---Matches a `GLOB` pattern, in which `*` is any text.
---```lua
---print(Book:filter(Book.c.title:glob("M*")):fetch_count())  --> 1
---```
---@param pattern string|perilune.expression
---@return perilune.expression
function column:glob(pattern) end

---Calls the SQL function `regexp`, which the script must add.
---```lua
---print((Book:filter(Book.c.title:regexp("^M")):sql()))
-----> SELECT * FROM "book" WHERE "book"."title" REGEXP ?
---```
---@param pattern string|perilune.expression
---@return perilune.expression
function column:regexp(pattern) end

---Matches a full-text search pattern.
---```lua
---print((Book:filter(Book.c.title:match("whale")):sql()))
-----> SELECT * FROM "book" WHERE "book"."title" MATCH ?
---```
---@param pattern string|perilune.expression
---@return perilune.expression
function column:match(pattern) end

---Contains a text, in which `%` and `_` have no special meaning. A JSON array is text, too: `column:json("tags"):contains("a")` finds
---every array with an `a` in one of its texts. See `column:json` for its elements.
---```lua
---print(Book:filter(Book.c.title:contains("the")):fetch_count())  --> 1
---```
---@param text string
---@return perilune.expression
function column:contains(text) end

---Starts with a text.
---```lua
---print(Book:filter(Book.c.title:starts_with("Around")):fetch_count())  --> 1
---```
---@param text string
---@return perilune.expression
function column:starts_with(text) end

---Ends with a text.
---```lua
---print(Book:filter(Book.c.title:ends_with("Dick")):fetch_count())  --> 1
---```
---@param text string
---@return perilune.expression
function column:ends_with(text) end

---The value with a collation for comparing and ordering.
---```lua
---print(Tag:filter(Tag.c.name:collating("nocase"):eq("SEA")):fetch_count())
-----> 1
---```
---@param name string
---@return perilune.expression
function column:collating(name) end

---The value with a name.
---```lua
---print(Book:select(Book.c.year:as("y")):order("id"):fetch_one().y)  --> 1846
---```
---@param name string
---@return perilune.expression
function column:as(name) end

---Sorts in ascending order.
---```lua
---print(Book:order(Book.c.year:asc()):fetch_one().year)  --> 1846
---```
---@return perilune.expression
function column:asc() end

---Sorts in descending order.
---```lua
---print(Book:order(Book.c.year:desc()):fetch_one().year)  --> 1872
---```
---@return perilune.expression
function column:desc() end

---Sorts NULL before all values.
---```lua
---print(Book:order(Book.c.pages:nulls_first()):fetch_one().title)
-----> Around the World
---```
---@return perilune.expression
function column:nulls_first() end

---Sorts NULL after all values.
---```lua
---print(Book:order(Book.c.pages:nulls_last()):fetch_one().title)  --> Typee
---```
---@return perilune.expression
function column:nulls_last() end

---Converts to `"integer"`, `"real"`, `"text"`, `"blob"` or `"numeric"`.
---```lua
---print(Book:select(Book.c.year:cast("text")):order("id"):fetch_value())
-----> 1846
---```
---@param type "integer"|"real"|"text"|"blob"|"numeric"
---@return perilune.expression
function column:cast(type) end

---The frame of a window, by one of `rows`, `range` and `groups`: its start and its end. A number counts rows, values or groups after the
---current one; a negative number counts backwards, and 0 is the current one. `"unbounded"` is the end of the partition.
---@class perilune.window_frame
---@field rows? { [1]: integer|"unbounded", [2]: integer|"unbounded" } `{ -2, 0 }`: the row and the two before it
---@field range? { [1]: number|"unbounded", [2]: number|"unbounded" } by the value of the order
---@field groups? { [1]: integer|"unbounded", [2]: integer|"unbounded" } by groups of rows that are equal in the order
---@field exclude? "current_row"|"group"|"ties"|"no_others" the rows to leave out

---The value over a window: `{ partition_by = ..., order_by = ..., frame = ... }`, or SQL. In a request with groups, the window has one row
---for each group: an aggregate of an aggregate is a running total over the groups, and `order_by` and `partition_by` may contain
---aggregates. A column that differs within a group is refused there.
---```lua
---local so_far = perilune.count():sum():over{ order_by = "author_id" }
---print(
---  Book:group("author_id")
---    :select(so_far:as("so_far"))
---    :order("author_id")
---    :fetch_values()[2]
---)
-----> 3
---print(
---  Book:select(Book.c.id:sum():over("ORDER BY id"))
---    :order("id")
---    :fetch_values()[3]
---)
-----> 6
---print(
---  Book:select(
---    Book.c.id:sum():over{ order_by = "id", frame = { rows = { -1, 0 } } }
---  ):order("id"):fetch_values()[3]
---)
-----> 5
---```
---@param window? string|{ partition_by?: any, order_by?: any, frame?: perilune.window_frame } the window, also as SQL: `"PARTITION BY country ORDER BY name"`
---@return perilune.expression
function column:over(window) end

---The aggregate, limited to the rows that satisfy a condition.
---```lua
---print(
---  Book:select(Book.c.id:count():where(Book.c.year:gt(1850))):fetch_value()
---)
-----> 2
---```
---@param condition perilune.expression
---@return perilune.expression
function column:where(condition) end

---The number of values that are not NULL.
---```lua
---print(Book:select(Book.c.pages:count()):fetch_value())  --> 2
---```
---@return perilune.expression
function column:count() end

---The sum of the values.
---```lua
---print(Book:select(Book.c.pages:sum()):fetch_value())  --> 961
---```
---@return perilune.expression
function column:sum() end

---The sum of the values as a float.
---```lua
---print(Book:select(Book.c.pages:total()):fetch_value())  --> 961.0
---```
---@return perilune.expression
function column:total() end

---The average of the values.
---```lua
---print(Book:select(Book.c.pages:average()):fetch_value())  --> 480.5
---```
---@return perilune.expression
function column:average() end

---The least value.
---```lua
---print(Book:select(Book.c.year:min()):fetch_value())  --> 1846
---```
---@return perilune.expression
function column:min() end

---The greatest value.
---```lua
---print(Book:select(Book.c.year:max()):fetch_value())  --> 1872
---```
---@return perilune.expression
function column:max() end

---All values, joined into one text.
---```lua
---print(Tag:select(Tag.c.name:group_concat("+")):fetch_value())
-----> sea+travel
---```
---@param separator? string a comma by default
---@return perilune.expression
function column:group_concat(separator) end

---All values as a JSON array.
---```lua
---print(Tag:select(Tag.c.name:json_group_array()):fetch_value())
-----> ["sea","travel"]
---```
---@return perilune.expression
function column:json_group_array() end

---The value in a JSON text: at a path, which begins with `$` (`"$.city"`); of the member with a name; or at a position, from 1.
---```lua
---print(
---  Tag:select(perilune.value('{"city":"Paris"}'):json("$.city"))
---    :fetch_value()
---)
-----> Paris
---```
---In SQL text, `json_each` finds the elements of an array:
---```lua
---db:execute [[
---  CREATE TABLE survey (id INTEGER PRIMARY KEY, answers TEXT);
---  INSERT INTO survey (answers) VALUES ('{"langs":["en","de"]}')]]
---local has_language = "EXISTS ("
---  .. "SELECT 1 FROM json_each(answers, '$.langs') WHERE value = ?)"
---print(perilune.record("survey"):filter(has_language, "de"):fetch_count())
-----> 1
---```
---@param path string|integer
---@return perilune.expression
---@raises argument: a position less than 1, an empty name, or one with quotes, which SQLite paths cannot express
function column:json(path) end

---The text of a full-text column, with marks around the matches.
---```lua
---db:create_fts5("book_text", {
---  synchronize_with = "book",
---  columns = { "title" },
---})
---local BookText = perilune.record("book_text")
---print((BookText:matching("dick")
---  :select(BookText.c.title:highlight("[", "]"))
---  :fetch_value()))
-----> Moby-[Dick]
---```
---@param before? string `"<b>"` by default
---@param after? string `"</b>"` by default
---@return perilune.expression
function column:highlight(before, after) end

---The part of a full-text column around the matches.
---```lua
---db:create_fts5("book_text", {
---  synchronize_with = "book",
---  columns = { "title" },
---})
---local BookText = perilune.record("book_text")
---print((BookText:matching("dick")
---  :select(BookText.c.title:snippet("[", "]"))
---  :fetch_value()))
-----> Moby-[Dick]
---```
---@param before? string `"<b>"` by default
---@param after? string `"</b>"` by default
---@param ellipsis? string `"…"` by default
---@param tokens? integer at most this many words, up to 64; 16 by default
---@return perilune.expression
function column:snippet(before, after, ellipsis, tokens) end

---The date in the format of SQL's `strftime`.
---```lua
---print(
---  Author:select(Author.c.born:strftime("%d.%m.%Y"))
---    :order("id")
---    :fetch_value()
---)
-----> 01.08.1819
---```
---@param format string|perilune.expression
---@return perilune.expression
function column:strftime(format) end

---SQL's `lower`.
---```lua
---print(Tag:select(Tag.c.name:lower()):order("id"):fetch_value())  --> sea
---```
---@return perilune.expression
function column:lower() end

---SQL's `upper`.
---```lua
---print(Tag:select(Tag.c.name:upper()):order("id"):fetch_value())  --> SEA
---```
---@return perilune.expression
function column:upper() end

---SQL's `length`.
---```lua
---print(Tag:select(Tag.c.name:length()):order("id"):fetch_value())  --> 3
---```
---@return perilune.expression
function column:length() end

---SQL's `trim`.
---```lua
---print(Tag:select(Tag.c.name:trim("a")):order("id"):fetch_value())  --> se
---```
---@param characters? string
---@return perilune.expression
function column:trim(characters) end

---SQL's `ltrim`.
---```lua
---print(Tag:select(Tag.c.name:ltrim("s")):order("id"):fetch_value())  --> ea
---```
---@param characters? string
---@return perilune.expression
function column:ltrim(characters) end

---SQL's `rtrim`.
---```lua
---print(Tag:select(Tag.c.name:rtrim("a")):order("id"):fetch_value())  --> se
---```
---@param characters? string
---@return perilune.expression
function column:rtrim(characters) end

---SQL's `replace`.
---```lua
---print(Tag:select(Tag.c.name:replace("s", "t")):order("id"):fetch_value())
-----> tea
---```
---@param part string|perilune.expression
---@param by string|perilune.expression
---@return perilune.expression
function column:replace(part, by) end

---SQL's `substr`, from position 1.
---```lua
---print(Tag:select(Tag.c.name:substr(2, 2)):order("id"):fetch_value())  --> ea
---```
---@param first integer
---@param count? integer
---@return perilune.expression
function column:substr(first, count) end

---SQL's `instr`: the position of a part, or 0 if it does not occur.
---```lua
---print(Tag:select(Tag.c.name:instr("a")):order("id"):fetch_value())  --> 3
---```
---@param part string|perilune.expression
---@return perilune.expression
function column:instr(part) end

---SQL's `hex`.
---```lua
---print(Tag:select(Tag.c.name:hex()):order("id"):fetch_value())  --> 736561
---```
---@return perilune.expression
function column:hex() end

---SQL's `unicode`: the code of the first character.
---```lua
---print(Tag:select(Tag.c.name:unicode()):order("id"):fetch_value())  --> 115
---```
---@return perilune.expression
function column:unicode() end

---SQL's `typeof`.
---```lua
---print(Tag:select(Tag.c.name:typeof()):order("id"):fetch_value())  --> text
---```
---@return perilune.expression
function column:typeof() end

---SQL's `quote`: the value as an SQL literal.
---```lua
---print(Tag:select(Tag.c.name:quote()):order("id"):fetch_value())  --> 'sea'
---```
---@return perilune.expression
function column:quote() end

---SQL's `abs`.
---```lua
---print(Tag:select((-Tag.c.id):abs()):order("id"):fetch_value())  --> 1
---```
---@return perilune.expression
function column:abs() end

---SQL's `round`.
---```lua
---print(Tag:select(perilune.value(1.25):round(1)):fetch_value())  --> 1.3
---```
---@param digits? integer
---@return perilune.expression
function column:round(digits) end

---SQL's `sign`.
---```lua
---print(Tag:select((-Tag.c.id):sign()):order("id"):fetch_value())  --> -1
---```
---@return perilune.expression
function column:sign() end

---SQL's `ceil`.
---```lua
---print(Tag:select(perilune.value(1.5):ceil()):fetch_value())  --> 2.0
---```
---@return perilune.expression
function column:ceil() end

---SQL's `floor`.
---```lua
---print(Tag:select(perilune.value(1.5):floor()):fetch_value())  --> 1.0
---```
---@return perilune.expression
function column:floor() end

---SQL's `trunc`.
---```lua
---print(Tag:select(perilune.value(-1.5):trunc()):fetch_value())  --> -1.0
---```
---@return perilune.expression
function column:trunc() end

---SQL's `sqrt`.
---```lua
---print(Tag:select(perilune.value(9):sqrt()):fetch_value())  --> 3.0
---```
---@return perilune.expression
function column:sqrt() end

---SQL's `pow`.
---```lua
---print(Tag:select(perilune.value(2):pow(3)):fetch_value())  --> 8.0
---```
---@param exponent any
---@return perilune.expression
function column:pow(exponent) end

---SQL's `exp`.
---```lua
---print(Tag:select(perilune.value(0):exp()):fetch_value())  --> 1.0
---```
---@return perilune.expression
function column:exp() end

---SQL's `ln`.
---```lua
---print(Tag:select(perilune.value(1):ln()):fetch_value())  --> 0.0
---```
---@return perilune.expression
function column:ln() end

---SQL's `log10`.
---```lua
---print(Tag:select(perilune.value(100):log10()):fetch_value())  --> 2.0
---```
---@return perilune.expression
function column:log10() end

---SQL's `log2`.
---```lua
---print(Tag:select(perilune.value(8):log2()):fetch_value())  --> 3.0
---```
---@return perilune.expression
function column:log2() end

---SQL's `mod`.
---```lua
---print(Tag:select(perilune.value(7):mod(4)):fetch_value())  --> 3.0
---```
---@param divisor any
---@return perilune.expression
function column:mod(divisor) end

---SQL's `coalesce`: the first value that is not NULL.
---```lua
---print(
---  Author:select(Author.c.country:coalesce("?"))
---    :order("id")
---    :fetch_values()[3]
---)
-----> ?
---```
---@param ... any
---@return perilune.expression
function column:coalesce(...) end

---SQL's `nullif`: NULL instead of the value.
---```lua
---print(Tag:select(Tag.c.name:nullif("sea")):order("id"):fetch_value())
-----> nil
---```
---@param value any
---@return perilune.expression
function column:nullif(value) end

---SQL's `likely`: a hint for the planner that the condition is usually true.
---```lua
---print(Book:filter(Book.c.year:gt(1850):likely()):fetch_count())  --> 2
---```
---@return perilune.expression
function column:likely() end

---SQL's `unlikely`: a hint for the planner that the condition is usually false.
---```lua
---print(Book:filter(Book.c.year:gt(1850):unlikely()):fetch_count())  --> 2
---```
---@return perilune.expression
function column:unlikely() end

---SQL's `date`, with modifiers.
---```lua
---print(Author:select(Author.c.born:date("+1 day")):order("id"):fetch_value())
-----> 1819-08-02
---```
---@param ... any
---@return perilune.expression
function column:date(...) end

---SQL's `time`, with modifiers.
---```lua
---print(
---  Author:select(Author.c.born:time("+1 hour")):order("id"):fetch_value()
---)
-----> 01:00:00
---```
---@param ... any
---@return perilune.expression
function column:time(...) end

---SQL's `datetime`, with modifiers.
---```lua
---print(
---  Author:select(Author.c.born:datetime("+1 hour")):order("id"):fetch_value()
---)
-----> 1819-08-01 01:00:00
---```
---@param ... any
---@return perilune.expression
function column:datetime(...) end

---SQL's `julianday`, with modifiers.
---```lua
---print(Tag:select(perilune.value("2000-01-01"):julianday()):fetch_value())
-----> 2451544.5
---```
---@param ... any
---@return perilune.expression
function column:julianday(...) end

---SQL's `unixepoch`, with modifiers.
---```lua
---print(Tag:select(perilune.value("1970-01-02"):unixepoch()):fetch_value())
-----> 86400
---```
---@param ... any
---@return perilune.expression
function column:unixepoch(...) end

---SQL's `json_type`.
---```lua
---print(
---  Tag:select(perilune.value('{"a":[1,2]}'):json_type("$.a")):fetch_value()
---)
-----> array
---```
---@param path? string
---@return perilune.expression
function column:json_type(path) end

---SQL's `json_array_length`.
---```lua
---print(
---  Tag:select(perilune.value('{"a":[1,2]}'):json_array_length("$.a"))
---    :fetch_value()
---)
-----> 2
---```
---@param path? string
---@return perilune.expression
function column:json_array_length(path) end

---SQL's `json_set`: sets a member, whether or not it exists.
---```lua
---print(
---  Tag:select(perilune.value('{"a":1}'):json_set("$.b", 2)):fetch_value()
---)
-----> {"a":1,"b":2}
---```
---@param path string
---@param value any
---@return perilune.expression
function column:json_set(path, value) end

---SQL's `json_insert`: adds a member if it does not exist.
---```lua
---print(
---  Tag:select(perilune.value('{"a":1}'):json_insert("$.a", 2)):fetch_value()
---)
-----> {"a":1}
---```
---@param path string
---@param value any
---@return perilune.expression
function column:json_insert(path, value) end

---SQL's `json_replace`: changes a member if it exists.
---```lua
---print(
---  Tag:select(perilune.value('{"a":1}'):json_replace("$.a", 2)):fetch_value()
---)
-----> {"a":2}
---```
---@param path string
---@param value any
---@return perilune.expression
function column:json_replace(path, value) end

---SQL's `json_remove`.
---```lua
---print(
---  Tag:select(perilune.value('{"a":1}'):json_remove("$.a")):fetch_value()
---)
-----> {}
---```
---@param path string
---@return perilune.expression
function column:json_remove(path) end

---SQL's `json_patch`.
---```lua
---print(
---  Tag:select(perilune.value('{"a":1}'):json_patch('{"b":2}')):fetch_value()
---)
-----> {"a":1,"b":2}
---```
---@param patch string|perilune.expression
---@return perilune.expression
function column:json_patch(patch) end

---SQL's `json_valid`, as a boolean.
---```lua
---print(Tag:select(perilune.value("{}"):json_valid()):fetch_value())  --> true
---```
---@return perilune.expression
function column:json_valid() end


---Returns the number of the row in its partition, from 1. It is only valid over a window.
---```lua
---print(Book:select(perilune.row_number():over{ order_by = "year" }:as("r"))
---  :order("r")
---  :fetch_value())
-----> 1
---```
---@return perilune.expression
---@raises argument: an argument is given
---@access any
---@module expressions.expression expressions.windows
function perilune.row_number() end

---Returns the rank of the row; equal rows share a rank, and the ranks after them have gaps. It is only valid over a window.
---```lua
---print(Book:select(perilune.rank():over{ order_by = "year" }:as("r"))
---  :order("r")
---  :fetch_value())
-----> 1
---```
---@return perilune.expression
---@raises argument: an argument is given
---@access any
---@module expressions.expression expressions.windows
function perilune.rank() end

---Returns the rank of the row, without gaps. It is only valid over a window.
---```lua
---print(Book:select(perilune.dense_rank():over{ order_by = "year" }:as("r"))
---  :order("r")
---  :fetch_value())
-----> 1
---```
---@return perilune.expression
---@raises argument: an argument is given
---@access any
---@module expressions.expression expressions.windows
function perilune.dense_rank() end

---Returns the rank of the row as a number from 0 to 1. It is only valid over a window.
---```lua
---print(Book:select(perilune.percent_rank():over{ order_by = "year" }:as("r"))
---  :order("r")
---  :fetch_value())
-----> 0.0
---```
---@return perilune.expression
---@raises argument: an argument is given
---@access any
---@module expressions.expression expressions.windows
function perilune.percent_rank() end

---Returns the share of the rows up to this one. It is only valid over a window.
---```lua
---print(Book:select(perilune.cume_dist():over{ order_by = "year" }:as("r"))
---  :order("r")
---  :fetch_value())
-----> 0.33333333333333
---```
---@return perilune.expression
---@raises argument: an argument is given
---@access any
---@module expressions.expression expressions.windows
function perilune.cume_dist() end

---Returns the number of the row's bucket, if the rows of a window are divided into `count` buckets.
---```lua
---print(Book:select(perilune.ntile(3):over{ order_by = "year" }:as("r"))
---  :order(perilune.sql("r DESC"))
---  :fetch_value())
-----> 3
---```
---@param count integer from 1
---@return perilune.expression
---@raises argument: `count` is not an integer from 1
---@access any
---@module expressions.expression expressions.windows
function perilune.ntile(count) end

---The value in an earlier row of a window.
---```lua
---print(Book:select(Book.c.year:lag(1, 0):over{ order_by = "year" })
---  :order("year")
---  :fetch_value())
-----> 0
---```
---@param distance? integer 1 by default
---@param default? any the value for rows without such a row; NULL by default
---@return perilune.expression
function column:lag(distance, default) end

---The value in a later row of a window.
---```lua
---print(Book:select(Book.c.year:lead():over{ order_by = "year" })
---  :order("year")
---  :fetch_value())
-----> 1851
---```
---@param distance? integer 1 by default
---@param default? any the value for rows without such a row; NULL by default
---@return perilune.expression
function column:lead(distance, default) end

---The value in the first row of the frame.
---```lua
---print(Book:select(Book.c.year:first_value():over{ order_by = "year" })
---  :order("year")
---  :fetch_value())
-----> 1846
---```
---@return perilune.expression
function column:first_value() end

---The value in the last row of the frame.
---```lua
---print(Book:select(Book.c.year:last_value():over{ order_by = "year" })
---  :order("year")
---  :fetch_value())
-----> 1846
---```
---@return perilune.expression
function column:last_value() end

---The value in a row of the frame, given by its number, from 1.
---```lua
---print(Book:select(Book.c.year:nth_value(1):over{ order_by = "year" })
---  :order("year")
---  :fetch_value())
-----> 1846
---```
---@param position integer
---@return perilune.expression
function column:nth_value(position) end

---The aggregate over its rows in an order, for `group_concat` and `json_group_array`.
---```lua
---print(
---  Tag:select(Tag.c.name:group_concat("+"):order(Tag.c.name:desc()))
---    :fetch_value()
---)
-----> travel+sea
---```
---@param ... string|perilune.expression
---@return perilune.expression
function column:order(...) end

---The aggregate over distinct values.
---```lua
---print(Book:select(Book.c.author_id:sum():distinct()):fetch_value())  --> 3
---```
---@return perilune.expression
function column:distinct() end
