--- Pages that begin after a given row, not at a row number. Later pages take no longer to fetch than earlier ones, and inserting or
-- deleting earlier rows does not shift a page.
--
--     local page = Book:order("year"):page_after(nil, 20)
--     page.records, page.next, page.previous
--     Book:order("year"):page_after(page.next, 20)
--
-- If rows may be equal in the order, the primary key is added to it, descending if the whole order is descending. A cursor is text that can
-- be used in URLs. It contains the values of the order's columns in the first or last row of a page, and is valid only for the order it was
-- made with.

local database_argument = require "perilune.runtime.database_argument"
local native_records = require "perilune.native.records"
local page_cursors = require "perilune.requests.page_cursors"
local page_searches = require "perilune.requests.page_searches"
local pageable = require "perilune.requests.pageable"
local request_plans = require "perilune.requests.plans"

--- The functions that scripts call.
local public = {}

local keyset_pages = {}

--- Returns the page after or before a cursor.
-- @tparam string method the start of messages
function keyset_pages.fetch(self, method, db, cursor, size)
  pageable.check(self, method, size)
  db = request_plans.database_for(db, method)
  local form, is_back, list = page_searches.form_of(self, method, db), method == "page_before", nil
  local values = cursor ~= nil and page_cursors.read(method, cursor, form.hash, #form.terms) or nil
  local searches = page_searches.searches_for(self, form, values, db)
  if #searches == 1 then
    list = page_searches.fetch_rows(self, searches, values, size + 1, db)
  else
    -- In one access, so that nothing is written between the searches.
    list = native_records.with_access(db, "read", page_searches.fetch_rows, self, searches, values, size + 1, db)
  end
  local has_more = #list > size
  for index = #list, size + 1, -1 do list[index] = nil end
  if is_back then
    for index = 1, #list // 2 do list[index], list[#list + 1 - index] = list[#list + 1 - index], list[index] end
  end
  local function cursor_at(position)
    return list[position] and page_cursors.write(form.hash, page_searches.stored_values(list[position], form.terms))
  end
  local page = pageable.page{ records = list, size = size }
  -- A page that was reached through a cursor always has a neighboring page in the other direction, because the cursor's row was there, even
  -- if it has been deleted since.
  if is_back then page.previous, page.next = has_more and cursor_at(1) or nil, cursor ~= nil and (cursor_at(#list) or cursor) or nil
  else page.previous, page.next = cursor ~= nil and (cursor_at(1) or cursor) or nil, has_more and cursor_at(#list) or nil end
  page_searches.drop_terms(list, form.terms)
  return page
end

--- Returns the page of rows after a cursor, in the order of the request: `records`; `next`, the cursor for the following page, nil
-- if none exists; and `previous`, the cursor for the preceding page.
-- @tparam ?database db
-- @tparam ?string cursor `next` of a page; nil for the first rows
-- @tparam integer size the maximum number of rows
function public:page_after(db, cursor, size) return keyset_pages.fetch(self, "page_after", db, cursor, size) end

--- Returns the page of rows before a cursor, which is `previous` of a page; nil for the last rows.
function public:page_before(db, cursor, size) return keyset_pages.fetch(self, "page_before", db, cursor, size) end

database_argument.precede(public, "", { page_after = 2, page_before = 2 })

keyset_pages.public = public
return keyset_pages
