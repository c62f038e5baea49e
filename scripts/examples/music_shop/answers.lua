--- Answers of requests and SQL in a comparable format: lists of lists of values.
local answers = {}

--- Returns the answer of a question's requests.
-- @tparam table q `ask` returns a list of results, and a function that converts a result to a list of values
function answers.by_requests(q)
  local results, values_of = q.ask()
  local answer = {}
  for index, result in ipairs(results) do answer[index] = values_of(result) end
  return answer
end

--- Returns the answer of a question's SQL.
function answers.by_sql(q, db)
  local answer = {}
  for index, row in ipairs(db:fetch_all(q.sql)) do answer[index] = row:values() end
  return answer
end

--- Returns a list of values as a line of text; nil is only left out at the end.
function answers.line(values)
  local last = 0
  for index in pairs(values) do last = math.max(last, index) end
  local texts = {}
  for index = 1, last do texts[index] = values[index] == nil and "-" or tostring(values[index]) end
  return table.concat(texts, "  ")
end

--- Returns an answer as text.
function answers.text(answer)
  local lines = {}
  for index, values in ipairs(answer) do lines[index] = answers.line(values) end
  return table.concat(lines, "\n")
end

--- Answers a question both ways.
-- @treturn table the answer
-- @raise if the answers differ
function answers.agreed(q, db)
  local answer = answers.by_requests(q)
  local expected = answers.text(answers.by_sql(q, db))
  if answers.text(answer) ~= expected then
    error(("%s\nSQL answers:\n%s\nand not:\n%s"):format(q.title, expected, answers.text(answer)))
  end
  return answer
end

return answers
