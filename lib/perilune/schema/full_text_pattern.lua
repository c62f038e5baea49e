--- Patterns for MATCH, made from text that users type.

local errors = require "perilune.native.errors"
local checks = require "perilune.runtime.checks"

--- The functions that scripts call.
local public = {}

--- The separator of words, and the templates for each word and for the whole pattern.
local kinds = {
  ["all words"] = { between = " ", word = '"%s"', all = "%s" },
  ["any word"] = { between = " OR ", word = '"%s"', all = "%s" },
  ["all prefixes"] = { between = " ", word = '"%s"*', all = "%s" },
  ["phrase"] = { between = " ", word = "%s", all = '"%s"' },
  ["prefix phrase"] = { between = " ", word = "%s", all = '^"%s"' },
}
local kind_names = { "all_words", "any_word", "all_prefixes", "phrase", "prefix_phrase" }

--- Makes a pattern that finds the words of a text and ignores everything else: `db:fetch_all(sql, perilune.fts5_pattern(typed))`. Without
-- this function, MATCH would parse the text as an FTS5 pattern, in which `it's` and `C++` are syntax errors.
-- @tparam string text
-- @tparam ?string kind "all_words" (the default): in any order; "any_word"; "all_prefixes": words that begin like these, for
--   search while the user types; "phrase": adjacent words; "prefix_phrase": a phrase at the beginning of a column
-- @treturn string a pattern that finds nothing if the text contains no words
function public.fts5_pattern(text, kind)
  local place = "perilune.fts5_pattern"
  if type(text) ~= "string" then checks.fail(place, "argument 1: expected a string, got " .. errors.describe(text)) end
  local form = kinds[(checks.choice(place .. ": argument 2", "kind", kind, kind_names) or "ALL WORDS"):lower()]
  local words = {}
  for word in text:gmatch("[0-9A-Za-z\x80-\xff]+") do words[#words + 1] = form.word:format(word) end
  return #words > 0 and form.all:format(table.concat(words, form.between)) or '""'
end

return public
