---@meta _
---@page Associations
---Which rows of one class belong to those of another.
---
---An association is stored in a field of its class: `Author.books = Author:has_many(Book)`. It derives like a request:
---`Author.books:filter(...):order(...)`. Reading `author.books` never fetches; `Author:including_all(Author.books)` does, and
---`author:books()` is a request for the rows that belong to a record. Without `including_all` the field is the association itself, which is
---true in a condition; `author:included("books")` raises then.
---
---An association that is given the name of a table uses the only class of that table, or a class of its own if there is none yet, which has
---neither the methods nor the default request of a class that is made afterwards. Pass the class where there is one.

---What associations are made of.
---@class perilune.association_options
---@field columns? string|string[] the foreign key, where the schema has several
---@field referenced? string|string[] the columns that it refers to
---@field name? string what the association is called; by default the field that it is stored in
---@field singular? string the name of one of its rows, for annotations such as `book_count`
---@field through? perilune.association an association of this class that leads to a third one
---@field using? perilune.association an association of the third class that leads to the target
---@field counter_cache? string of `belongs_to`: a column of the other table that counts the rows
---@field touch? boolean|string of `belongs_to`: whether writing a row updates a timestamp of the other one

---@class perilune.request
local Class = {}

---Makes an association. Each row has a foreign key to a row of the other class.
---```lua
---Book.writer = Book:belongs_to(Author)
---print(Book:including_required(Book.writer):find(1).writer.name)  --> Herman Melville
---```
---@param target perilune.record_class|perilune.common_table|string a class, a common table, or the name of a table
---@param options? perilune.association_options
---@return perilune.association
---@raises argument: an option is not valid; unknown_option: an option does not exist
---@access any
function Class:belongs_to(target, options) end

---Makes an association. One row of the other class at most has a foreign key to each row. Where the keys allow several, the first by the order of the association, then by the key, counts.
---```lua
---Author.debut = Author:has_one(Book)
---print(Author:including_optional(Author.debut):find(1).debut.title)  --> Typee
---Author.latest = Author:has_one(Book):order(Book.c.year:desc())
---print(Author:including_optional(Author.latest):find(1).latest.title)  --> Moby-Dick
---```
---@param target perilune.record_class|perilune.common_table|string a class, a common table, or the name of a table
---@param options? perilune.association_options
---@return perilune.association
---@raises argument: an option is not valid; unknown_option: an option does not exist
---@access any
function Class:has_one(target, options) end

---Makes an association. Rows of the other class have a foreign key to each row.
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

---An association. Beside these methods it has those of requests that derive, such as `filter` and `order`. Called with a record, or as
---a method of one, it returns the request for the rows that belong to it. `book:author()` works whether or not the book was fetched with its
---author, but not if it was fetched with none, as the field then is nil; `Book.author(book)` always works.
---@class perilune.association
---@overload fun(record: perilune.record, db?: perilune.database): perilune.request
---@access any
---@raises argument: an argument has the wrong type; not_fetched: the association is used as if its rows were there
---@field c table<string, perilune.expression> the columns of the rows that it leads to, for requests that join it
local association = {}

---Returns how many rows belong to each row, as an expression.
---```lua
---print(Author:annotated_with(Author.books:count()):find(1).book_count)  --> 2
---```
---@return perilune.expression
function association:count() end

---Returns whether no rows belong to a row, as a condition.
---```lua
---print(Author:having(Author.books:is_empty()):fetch_one().name)  --> Ada Lovelace
---```
---@return perilune.expression
function association:is_empty() end

---Returns whether any rows belong to a row, as a condition.
---```lua
---print(Author:having(Author.books:exists()):fetch_count())  --> 2
---```
---@return perilune.expression
function association:exists() end

---Returns the least value of a column of the rows that belong to each row, as an expression.
---```lua
---print(Author:annotated_with(Author.books:min("year"):as("result")):find(1).result)  --> 1846
---```
---@param column string|perilune.expression
---@return perilune.expression
function association:min(column) end

---Returns the greatest value of a column of the rows that belong to each row, as an expression.
---```lua
---print(Author:annotated_with(Author.books:max("year"):as("result")):find(1).result)  --> 1851
---```
---@param column string|perilune.expression
---@return perilune.expression
function association:max(column) end

---Returns the sum of a column of the rows that belong to each row, as an expression.
---```lua
---print(Author:annotated_with(Author.books:sum("year"):as("result")):find(1).result)  --> 3697
---```
---@param column string|perilune.expression
---@return perilune.expression
function association:sum(column) end

---Returns the average of a column of the rows that belong to each row, as an expression.
---```lua
---print(Author:annotated_with(Author.books:average("year"):as("result")):find(1).result)  --> 1848.5
---```
---@param column string|perilune.expression
---@return perilune.expression
function association:average(column) end

---Returns the sum as a float of a column of the rows that belong to each row, as an expression.
---```lua
---print(Author:annotated_with(Author.books:total("year"):as("result")):find(1).result)  --> 3697.0
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

---Returns the association without the default request of the class that it leads to.
---```lua
---Book.requests.default = function(self) return self:filter{ is_read = true } end
---print(Author:having(Author.books:unscoped():count():eq(2)):fetch_count())  --> 1
---```
---@return perilune.association
function association:unscoped() end
