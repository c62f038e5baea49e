---@meta _
---@page Associations
---Relations between rows of one class and rows of another.
---
---An association is stored in a field of its class: `Author.books = Author:has_many(Book)`. Like a request, it can be refined:
---`Author.books:filter(...):order(...)`. Reading `author.books` never fetches; `Author:including_all(Author.books)` does, and
---`author:books()` is a request for the rows that belong to a record. Without `including_all` the field is the association itself, which is
---true in a condition; `author:included("books")` raises an error in that case.
---
---An association with the name of a table uses the only class of that table. If none exists yet, it uses a new class without the methods
---and the default request of a class that is made later. Pass the class if one exists.

---Options of associations.
---@class perilune.association_options
---@field columns? string|string[] the foreign key, if the schema has several
---@field referenced? string|string[] the columns that the foreign key refers to
---@field name? string the name of the association; by default its field
---@field singular? string the name of a single row, for annotations such as `book_count`
---@field through? perilune.association an association of this class that leads to a third one
---@field using? perilune.association an association of the third class that leads to the target
---@field counter_cache? string|false for `belongs_to`: a column of the other table that counts the rows; each count adds 1 to the `lock_version` of the other row, if its class has one
---@field touch? boolean|string for `belongs_to`: whether writing a row updates a timestamp of the other row, and its `lock_version`

---@class perilune.request
local Class = {}

---Makes an association: each row has a foreign key to a row of the other class. A record of that class may be given in place of the
---columns: `Book:insert{ writer = author }`, `book.writer = author`.
---```lua
---Book.writer = Book:belongs_to(Author)
---print(Book:including_required(Book.writer):find(1).writer.name)
-----> Herman Melville
---print(Book:insert{ title = "Omoo", writer = Author:find(1) }.author_id)
-----> 1
---```
---@param target perilune.record_class|perilune.common_table|string a class, a common table, or the name of a table
---@param options? perilune.association_options
---@return perilune.association
---@raises argument: an option is not valid; unknown_option: an option does not exist
---@access any
function Class:belongs_to(target, options) end

---Makes an association to the one row of the other class that refers to this row. If several rows can refer to it, the association returns
---the first one in the order of the association, then by the key.
---```lua
---Author.debut = Author:has_one(Book)
---print(Author:including_optional(Author.debut):find(1).debut.title)
-----> Typee
---Author.latest = Author:has_one(Book):order(Book.c.year:desc())
---print(Author:including_optional(Author.latest):find(1).latest.title)
-----> Moby-Dick
---```
---@param target perilune.record_class|perilune.common_table|string a class, a common table, or the name of a table
---@param options? perilune.association_options
---@return perilune.association
---@raises argument: an option is not valid; unknown_option: an option does not exist
---@access any
function Class:has_one(target, options) end

---Makes an association: rows of the other class have a foreign key to each row.
---```lua
---Author.works = Author:has_many(Book)
---print(#Author:including_all(Author.works):find(1).works)  --> 2
---```
---@param target perilune.record_class|perilune.common_table|string a class, a common table, or the name of a table
---@param options? perilune.association_options
---@return perilune.association
---@raises argument: an option is not valid; unknown_option: an option does not exist
---@access any
function Class:has_many(target, options) end

---An association. It also has the methods of requests that derive another one, such as `filter` and `order`. Called with a record, or as a
---method of a record, it returns the request for the associated rows. `book:author()` works whether or not the book was fetched with its
---author, unless the fetched author is nil; `Book.author(book)` always works.
---@class perilune.association
---@overload fun(record: perilune.record, db?: perilune.database): perilune.request
---@access any
---@raises argument: an argument has the wrong type; not_fetched: the association is used as if its rows were there
---@field c table<string, perilune.expression> the columns of the associated rows, for requests that join it
local association = {}

---Returns the number of associated rows of each row, as an expression.
---```lua
---print(Author:annotated_with(Author.books:count()):find(1).book_count)  --> 2
---```
---@return perilune.expression
function association:count() end

---Returns whether a row has no associated rows, as a condition.
---```lua
---print(Author:having(Author.books:is_empty()):fetch_one().name)
-----> Ada Lovelace
---```
---@return perilune.expression
function association:is_empty() end

---Returns whether a row has associated rows, as a condition.
---```lua
---print(Author:having(Author.books:exists()):fetch_count())  --> 2
---```
---@return perilune.expression
function association:exists() end

---Returns the least value of a column of the associated rows, as an expression.
---```lua
---print(
---  Author:annotated_with(Author.books:min("year"):as("result"))
---    :find(1).result
---)
-----> 1846
---```
---@param column string|perilune.expression
---@return perilune.expression
function association:min(column) end

---Returns the greatest value of a column of the associated rows, as an expression.
---```lua
---print(
---  Author:annotated_with(Author.books:max("year"):as("result"))
---    :find(1).result
---)
-----> 1851
---```
---@param column string|perilune.expression
---@return perilune.expression
function association:max(column) end

---Returns the sum of a column of the associated rows, as an expression.
---```lua
---print(
---  Author:annotated_with(Author.books:sum("year"):as("result"))
---    :find(1).result
---)
-----> 3697
---```
---@param column string|perilune.expression
---@return perilune.expression
function association:sum(column) end

---Returns the average of a column of the associated rows, as an expression.
---```lua
---print(
---  Author:annotated_with(Author.books:average("year"):as("result"))
---    :find(1).result
---)
-----> 1848.5
---```
---@param column string|perilune.expression
---@return perilune.expression
function association:average(column) end

---Returns the sum of a column of the associated rows as a float, as an expression.
---```lua
---print(
---  Author:annotated_with(Author.books:total("year"):as("result"))
---    :find(1).result
---)
-----> 3697.0
---```
---@param column string|perilune.expression
---@return perilune.expression
function association:total(column) end

---Returns the association under another name, so that a request can include it twice.
---```lua
---local old = Author.books:filter("year < 1850"):as("old_books")
---local author = Author:including_all(Author.books, old):find(1)
---print(#author.books, #author.old_books)  --> 2	1
---```
---@param name string
---@return perilune.association
function association:as(name) end

---Returns the association without the default request of the associated class.
---```lua
---Book.requests.default = function(self)
---  return self:filter{ is_read = true }
---end
---print(Author:having(Author.books:unscoped():count():eq(2)):fetch_count())
-----> 1
---```
---@return perilune.association
function association:unscoped() end
