import PeriluneLua
import Testing

@testable import PeriluneLua

/// Deterministic states, in which no result of a script depends on addresses.
@Suite struct OrderTests {
    private static func state(limited: Bool = false, _ libraries: LuaLibraries = .trusted) throws -> LuaState {
        let limits = limited ? LuaLimits(memoryInBytes: 256 << 20, instructions: 2_000_000_000) : .none
        return try LuaState(libraries: libraries, limits: limits, isDeterministic: true)
    }

    /// The reference implementation: functions that list the keys of a table in the documented order.
    private static let oracle = """
        local ranks = { number = 1, string = 2, boolean = 3 }

        -- By bytes, in every locale.
        local function bytes_less(a, b)
          for i = 1, math.min(#a, #b) do
            local x, y = a:byte(i), b:byte(i)
            if x ~= y then return x < y end
          end
          return #a < #b
        end

        -- Objects have the order in which `made` lists them.
        local function less(made)
          return function(a, b)
            local left, right = ranks[type(a)] or 4, ranks[type(b)] or 4
            if left ~= right then return left < right end
            if left == 1 then return a < b end
            if left == 2 then return bytes_less(a, b) end
            if left == 3 then return not a and b end
            return made[a] < made[b]
          end
        end

        function sorted_keys(keys, made)
          local list, less = {}, less(made or {})
          for index = 1, #keys do
            local place = #list + 1
            while place > 1 and less(keys[index], list[place - 1]) do place = place - 1 end
            table.insert(list, place, keys[index])
          end
          return list
        end

        function same(left, right)
          if #left ~= #right then return false end
          for i = 1, #left do
            if not rawequal(left[i], right[i]) and left[i] ~= right[i] then return false end
          end
          return true
        end
        """

    private static let randomTables = """
        math.randomseed(42)
        local random = math.random

        local function word()
          local length = random(0, 50)
          if length > 8 and random(4) > 1 then length = length % 8 end
          local bytes = {}
          for i = 1, length do bytes[i] = string.char(random(4) == 1 and random(0, 255) or random(97, 99)) end
          return table.concat(bytes)
        end

        local function object()
          local kind = random(5)
          if kind == 1 then return {} end
          if kind == 2 then return function() return kind end end
          if kind == 3 then return coroutine.create(function() end) end
          if kind == 4 then return io.tmpfile and setmetatable({}, { __name = "named" }) end
          return coroutine.wrap(function() end)
        end

        local function key(made, count)
          local kind = random(9)
          if kind <= 3 then return random(-5, 20) end
          if kind == 4 then return random(10) > 5 and random(-1000000, 1000000) / 8 or random(0) + 0.5 end
          if kind == 5 then return ({ math.huge, -math.huge, math.maxinteger, math.mininteger, 2^63, 2^53 + 0.0, -2^63 + 0.0, 1.5, 0.5 })[random(9)] end
          if kind <= 7 then return word() end
          if kind == 8 then return random(2) == 1 end
          local o = object()
          made[o] = count
          return o
        end

        local function visited(t)
          local keys = {}
          for k in pairs(t) do keys[#keys + 1] = k end
          return keys
        end

        for round = 1, ROUNDS do
          local t, keys, made, is_there = {}, {}, setmetatable({}, {}), {}
          local size = random(0, 12)
          if random(20) == 1 then size = random(40, 120) end
          if random(3) == 1 then for i = 1, random(0, 30) do t[i] = i keys[#keys + 1] = i is_there[i] = true end end
          for i = 1, size do
            local k = key(made, i)
            if t[k] == nil then keys[#keys + 1] = k end
            t[k] = i
          end
          local expected = sorted_keys(keys, made)
          assert(same(visited(t), expected), "pairs, round " .. round)

          local by_next, k = {}, nil
          repeat
            k = next(t, k)
            by_next[#by_next + 1] = k
          until k == nil
          assert(same(by_next, expected), "next, round " .. round)
          local in_next = {}
          for k, v in next, t do in_next[#in_next + 1] = k assert(t[k] == v) end
          assert(same(in_next, expected), "in next, round " .. round)

          -- Changes some fields and removes some during the traversal, including fields that were not visited yet.
          local seen, removed = {}, {}
          local mode = random(2)
          local f, s, c = pairs(t)
          if mode == 2 then f, s, c = next, t, nil end
          for k in f, s, c do
            assert(not removed[k], "visited after it was removed, round " .. round)
            seen[#seen + 1] = k
            if random(2) == 1 then
              local victim = expected[random(#expected)]
              if t[victim] ~= nil then
                if random(2) == 1 then t[victim] = nil removed[victim] = true else t[victim] = "changed" end
              end
            end
            if random(40) == 1 then collectgarbage() end
            if random(4) == 1 then for _ in pairs(t) do break end next(t) end
          end
          local left, position = {}, 0
          for _, k in ipairs(seen) do
            repeat position = position + 1 until position > #expected or expected[position] == k or rawequal(expected[position], k)
            assert(position <= #expected, "out of order, round " .. round)
          end
          for _, k in ipairs(expected) do if not removed[k] then left[#left + 1] = k end end
          local was_seen = {}
          for _, k in ipairs(seen) do was_seen[k] = true end
          for _, k in ipairs(left) do assert(was_seen[k], "not visited, round " .. round) end
        end
        """

    @Test(arguments: [false, true]) func `ten thousand random tables iterate in the order of their keys and survive changes`(
        isLimited: Bool
    )
        throws
    {
        let state = try Self.state(limited: isLimited)
        try state.run(Self.oracle)
        try state.run(Self.randomTables.replacing("ROUNDS", with: isLimited ? "2000" : "10000"))
    }

    @Test func `userdata keys with any number of user values iterate in creation order`() throws {
        let state = try Self.state()
        try state.run(
            """
            local t, files = {}, {}
            for i = 1, 30 do files[i] = io.tmpfile() end
            for i = 30, 1, -1 do t[files[i]] = i end
            local last = 0
            for _, i in pairs(t) do assert(i == last + 1) last = i end
            assert(last == 30)
            """)
    }

    @Test func `the function that pairs returns accepts any table and key, like next`() throws {
        let state = try Self.state()
        try state.run(
            """
            local a, b = { x = 1, y = 2, z = 3 }, { p = 1, q = 2 }
            local f, s, c = pairs(a)
            assert(f(b, nil) == "p" and f(b, "p") == "q" and f(b, "q") == nil)
            assert(f(a, nil) == "x" and f(a, nil) == "x" and f(a, "x") == "y" and f(a, "x") == "y")
            assert(f(a, "w") == "x" and next(a, "xx") == "y" and next({ 1, 2, 3 }, 1.5) == 2 and next({ 1, 2 }, 0) == 1)
            assert(next({}) == nil and next({}, nil) == nil and select("#", next({})) == 1)
            assert(s == a and c == nil)
            for _ in pairs{} do error("empty") end
            assert(select(2, pcall(function() for _ in pairs(nil) do end end)):find("'for iterator' %(table expected, got nil%)"))
            assert(select(2, pcall(next)):find("bad argument #1 to 'next' %(table expected, got no value%)"))
            local proxy = setmetatable({}, { __pairs = function(t) return function(_, k) return k == nil and 1 or nil end, t, nil end })
            local count = 0
            for k in pairs(proxy) do count = count + k end
            assert(count == 1)
            """)
    }

    @Test func `nested loops over one table and loops that remove keys visit each key once`() throws {
        let state = try Self.state(limited: true)
        try state.run(
            """
            local t = {}
            for i = 1, 50 do t["k" .. i] = i end
            local count = 0
            for k in next, t do for k2 in next, t do for k3 in pairs(t) do count = count + 1 end end end
            assert(count == 50 * 50 * 50)
            local big = {}
            for i = 1, 20000 do big[i % 3 == 0 and i or "s" .. i] = true end
            count = 0
            for k in pairs(big) do big[k] = nil count = count + 1 end
            assert(count == 20000 and next(big) == nil)
            """)
    }

    @Test func `tostring of objects shows a stable number instead of an address`() throws {
        let script = """
            local a, b = {}, {}
            local named = setmetatable({}, { __name = "thing" })
            local texts = {
              tostring(b), tostring(a), tostring(a), tostring(print), tostring(coroutine.create(print)), tostring(named),
              string.format("%s|%p|%5s|%d%%|%p|%p", b, b, "x", 3, "text", 5), ("%s"):format(a), tostring(io.stdout) }
            return table.concat(texts, " ")
            """
        let texts = try (0..<3).map { round in
            let state = try Self.state()
            // Other allocations.
            if round == 2 { try state.run("for i = 1, 1000 do local t = { i } end") }
            return try state.evaluate(script, as: String.self)
        }
        #expect(Set(texts).count == 1, "\(texts)")
        #expect(
            texts[0].contains("table: 0x000000000001") && texts[0].contains("table: 0x000000000002")
                && texts[0].contains("thing: 0x"))
        let live = try LuaState(libraries: .trusted)
        #expect(try live.evaluate("return tostring({}) ~= tostring({})") == true)
    }

    @Test func `table.sort leaves equal elements in the same order in each process`() throws {
        let script = """
            local list = {}
            for i = 1, 3000 do list[i] = { key = i % 7, id = i } end
            table.sort(list, function(a, b) return a.key < b.key end)
            local ids = {}
            for i, item in ipairs(list) do ids[i] = item.id end
            return table.concat(ids, " ")
            """
        let texts = try (0..<3).map { _ in try Self.state().evaluate(script, as: String.self) }
        #expect(texts[0] == texts[1] && texts[1] == texts[2])
    }

    @Test func `Swift reads the pairs of a table in the same order as scripts`() throws {
        let state = try Self.state()
        try state.run(
            """
            t = { 3, 2, 1, b = 1, a = 2, [true] = 3, [false] = 4, [-1] = 5, [1.5] = 6, [2^63] = 7, [math.maxinteger] = 8, ["\\xff"] = 9, [""] = 10 }
            order = {}
            for _, value in pairs(t) do order[#order + 1] = value end
            """)
        let table: LuaTable = try state.globals.get("t")
        let order: LuaTable = try state.globals.get("order")
        #expect(try table.pairs().map(\.value) == order.array())
    }

    @Test func `creating objects without free memory ends with an error`() throws {
        let state = try LuaState(libraries: .trusted, limits: LuaLimits(memoryInBytes: 4 << 20), isDeterministic: true)
        let error = #expect(throws: LuaError.self) {
            try state.run(
                "local t = {} for i = 1, 1e9 do t['k' .. i] = {} if i % 5000 == 0 then for k in pairs(t) do break end end end")
        }
        #expect(error?.code == .memory)
    }
}
