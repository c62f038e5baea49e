--- Answers of requests and of SQL, in a form in which they can be compared: lists of lists of values.
local answers = {}

--- The answer of a question's requests.
-- @tparam table q `ask` returns a list of results, and a function that makes a list of values of one of them
function answers.by_requests(q)
  local results, values_of = q.ask()
  local answer = {}
  for index, result in ipairs(results) do answer[index] = values_of(result) end
  return answer
end

--- The answer of its SQL.
function answers.by_sql(q, db)
  local answer = {}
  for index, row in ipairs(db:fetch_all(q.sql)) do answer[index] = row:values() end
  return answer
end

--- A list of values as a line of text; nil is left out at the end only.
function answers.line(values)
  local last = 0
  for index in pairs(values) do last = math.max(last, index) end
  local texts = {}
  for index = 1, last do texts[index] = values[index] == nil and "-" or tostring(values[index]) end
  return table.concat(texts, "  ")
end

--- An answer as text.
function answers.text(answer)
  local lines = {}
  for index, values in ipairs(answer) do lines[index] = answers.line(values) end
  return table.concat(lines, "\n")
end

--- Asks both ways.
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
