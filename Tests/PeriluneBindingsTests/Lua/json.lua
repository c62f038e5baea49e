--- perilune.json.

local encode, decode = perilune.json.encode, perilune.json.decode

test("JSON output is compact, with sorted names", function()
  equal(encode{ b = { 1, 2.5, "x" }, a = true, c = perilune.null }, '{"a":true,"b":[1,2.5,"x"],"c":null}')
  equal(encode"text", '"text"')
  equal(encode(perilune.null), "null")
end)

test("integers stay integers, floats stay floats, and both keep every digit", function()
  equal(encode{ math.maxinteger, math.mininteger, 1.0, -0.0, 1e100, 0.1, 5e-324, 1 / 3 },
    "[9223372036854775807,-9223372036854775808,1.0,-0.0,1e+100,0.1,4.94065645841247e-324,0.3333333333333333]")
  for _, number in ipairs{ 1, 1.0, 0.1 + 0.2, 1 / 3, 2 ^ 53, 1.7976931348623157e308, 5e-324, math.mininteger, -1.5e-7 } do
    equal(decode(encode(number)), number)
  end
  equal(math.type(decode "1.0"), "float")
  equal(math.type(decode "1e3"), "float")
  equal(decode "123456789012345678901", 123456789012345678901.0)
  matches(fails("conversion", encode, { x = { 0 / 0 } }), "the value.x[1]: JSON has no NaN")
  matches(fails("conversion", encode, -(0 / 0)), "JSON has no NaN")
  matches(fails("conversion", encode, math.huge), "JSON has no infinity")
end)

test("an empty table becomes an object unless it was marked or read as an array", function()
  equal(encode{}, "{}")
  equal(encode(perilune.json.array()), "[]")
  equal(encode(perilune.json.array{ 1 }), "[1]")
  equal(encode(perilune.json.object()), "{}")
  equal(encode(decode '{"a":[],"b":{},"c":[[]]}'), '{"a":[],"b":{},"c":[[]]}')
  local tags = decode "[]"
  tags[1] = "new"
  equal(encode(tags), '["new"]')
end)

test("strings are escaped when written, and escapes are decoded when read", function()
  equal(encode 'a"b\\c\n\t\0\127é😀', '"a\\"b\\\\c\\n\\t\\u0000\\u007fé😀"')
  equal(decode '"a\\"b\\\\c\\/\\b\\f\\n\\r\\t\\u00e9\\ud83d\\ude00\127é"', 'a"b\\c/\b\f\n\r\té😀\127é')
  equal(decode(encode(("\1\31\"\\x"):rep(1000))), ("\1\31\"\\x"):rep(1000))
  matches(fails("conversion", encode, { name = "\255" }), "the value.name: a string that is not valid UTF-8")
  matches(fails("conversion", decode, '"\255"'), "not valid UTF-8")
  fails("conversion", encode, "\xed\xa0\x80")
end)

test("whitespace is skipped, and true, false and null are read", function()
  equal(decode " \t\r\n{ \"a\" : [ true , false , null ] , \"b\" : { } } \n", { a = { true, false, perilune.null }, b = {} })
  equal(decode "null", perilune.null)
  equal(decode '{"a":1,"a":2}', { a = 2 })
end)

test("invalid JSON is refused with its position", function()
  for _, text in ipairs{ "", " ", "[", "[1", "[1,", "[1,]", "{", '{"a"', '{"a":', '{"a":1', '{"a":1,}', "{a:1}", "'a'", '"a', '"\\',
    '"\\x"', '"\\u12"', '"\\ud800"', '"\\ud800\\u0041"', '"\\udc00"', '"a\nb"', "01", "-", "+1", ".5", "1.", "1e", "0x10", "nul",
    "nan", "Infinity", "true false", "1 2", "]", "-01", "[1}", '{"a":1]', "tru", "\0" } do
    fails("conversion", decode, text)
  end
  matches(fails("conversion", decode, '{"a": nope}'), 'at byte 7, near "nope}"')
  matches(fails("conversion", decode, 12), "expected JSON, got the integer 12")
end)

test("values that JSON cannot represent are refused with advice", function()
  matches(fails("conversion", encode, { a = { b = print } }), "the value.a.b: JSON cannot hold")
  matches(fails("conversion", encode, { 1, nil, 3 }), "a list with a hole")
  matches(fails("conversion", encode, { 1, 2, x = 3 }), 'a table with positions and the name "x"')
  matches(fails("conversion", encode, { [1.5] = 1 }), "expected names or positions as keys")
  fails("conversion", encode, { [true] = 1 })
  fails("conversion", encode, { [0] = 1 })
  fails("conversion", encode, { x = perilune.blob "a" })
  fails("conversion", encode, perilune.json.array{ x = 1 })
end)

test("cyclic tables and deeply nested text are refused", function()
  local loop = {}
  loop.me = { loop }
  matches(fails("conversion", encode, loop), "nested more than 200 tables deep")
  matches(fails("conversion", decode, ("["):rep(1000000)), "nested more than 200 values deep")
  local deep = ("["):rep(200) .. ("]"):rep(200)
  equal(encode(decode(deep)), deep)
end)

test("dates, enums and value types have the same form in JSON as in the database", function()
  local Color = perilune.enum{ red = 1 }
  equal(encode{ due = perilune.date "2026-03-01", color = Color.red }, '{"color":1,"due":"2026-03-01 00:00:00.000"}')
end)

test("tostring of a value that was read from JSON returns JSON", function()
  db:execute "CREATE TABLE t (id INTEGER PRIMARY KEY, data TEXT)"
  local T = perilune.record("t", { types = { data = "json" } })
  T{ data = { list = { 1, 2 }, name = "x" } }:insert()
  equal(tostring(T:find(1)), 't{id = 1, data = {"list":[1,2],"name":"x"}}')
  equal(tostring(T:find(1).data.list), "[1,2]")
end)
