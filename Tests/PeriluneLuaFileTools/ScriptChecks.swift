import PeriluneDependencies

/// Returns an unused path in a folder that is removed when the tests end.
package func temporaryPath(_ name: String) -> String {
    // Without such a folder no test can run.
    try! TemporaryFolder.path(name)
}

/// The functions for the tests of one host, whose files are removed when the tests end.
package func testFunctions() -> String {
    checks + """
        do local count, base = 0, "\(temporaryPath("lua"))" \
        function temporary_path(name) count = count + 1 return base .. count .. "-" .. name end end \

        """
}

private let checks = """
    local function show(v, depth) \
      if type(v) == "string" then return string.format("%q", v) end \
      if type(v) ~= "table" or (depth or 0) > 4 then return tostring(v) end \
      local parts = {} \
      for k, x in pairs(v) do parts[#parts + 1] = "[" .. tostring(k) .. "] = " .. show(x, (depth or 0) + 1) end \
      table.sort(parts) \
      return "{" .. table.concat(parts, ", ") .. "}" \
    end \
    local function same(a, b) \
      if type(a) == "table" and type(b) == "table" then \
        for k, x in next, a do if not same(x, rawget(b, k)) then return false end end \
        for k in next, b do if rawget(a, k) == nil then return false end end \
        return true \
      end \
      return a == b and math.type(a) == math.type(b) or (a ~= a and b ~= b) \
    end \
    function equal(a, b) if not same(a, b) then error("expected " .. show(b) .. ", got " .. show(a), 2) end end \
    function matches(text, part) \
      if not tostring(text):find(part, 1, true) then error("expected " .. part .. " in: " .. tostring(text), 2) end \
    end \
    function fails(kind, f, ...) \
      local ok, err = pcall(f, ...) \
      if ok then error("expected an error of kind " .. tostring(kind), 2) end \
      local found = type(err) ~= "string" and err.kind or nil \
      if kind and found ~= kind then error("expected kind " .. kind .. ", got " .. tostring(found) .. ": " .. tostring(err), 2) end \
      return err \
    end \
    function rounds(count) return count * (tonumber(os.getenv("PERILUNE_TEST_ROUNDS")) or 1) end \
    function random_numbers(seed) \
      local function random(count) \
        seed = (seed * 1103515245 + 12345) % 2147483648 \
        return (seed >> 8) % count + 1 \
      end \
      return random, function(list) return list[random(#list)] end \
    end \
    function temporary_path(name) local path = os.tmpname() os.remove(path) return path .. "-" .. name end \

    """.split(separator: "\n").joined(separator: " ") + " "
