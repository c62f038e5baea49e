internal import CPeriluneShim

/// A handle to a Lua table.
public struct LuaTable {
    let reference: LuaReference
    private var core: LuaCore { reference.core }

    init(_ reference: LuaReference) {
        self.reference = reference
    }

    /// Returns the value of a key, like `table[key]` in Lua, including `__index`.
    ///
    /// - Throws: ``LuaError`` if a metamethod raises.
    public func get(_ key: LuaValue) throws(LuaError) -> LuaValue {
        try push(with: key)
        return try core.run(plua_get) { core.takeValues(1)[0] }
    }

    /// Sets the value of a key, like `table[key] = value` in Lua, including `__newindex`.
    ///
    /// - Throws: ``LuaError`` if the key is `nil` or NaN, or if `__newindex` raises.
    public func set(_ key: LuaValue, _ value: LuaValue) throws(LuaError) {
        try push(with: key, value)
        try core.run(plua_set)
    }

    /// Returns the value of a key, without metamethods.
    ///
    /// - Throws: ``LuaError`` if the state is closed, or there is not enough memory.
    public func rawGet(_ key: LuaValue) throws(LuaError) -> LuaValue {
        try push(with: key)
        lua_rawget(core.L, -2)
        defer { plua_pop(core.L, 1) }
        return core.takeValues(1)[0]
    }

    /// Sets the value of a key, without metamethods.
    ///
    /// - Throws: ``LuaError`` if the key is `nil` or NaN, the state is closed, or there is not enough memory.
    public func rawSet(_ key: LuaValue, _ value: LuaValue) throws(LuaError) {
        try push(with: key, value)
        try core.run(plua_raw_set)
    }

    /// Pushes the table, a key, and an optional value. All must belong to the same state.
    private func push(with key: LuaValue, _ value: LuaValue? = .none) throws(LuaError) {
        try core.prepare()
        try core.checkOwnership(of: key)
        if let value { try core.checkOwnership(of: value) }
        reference.push(on: core.L)
        core.push(key)
        if let value { core.push(value) }
    }

    /// Returns the value of a key, converted to a Swift type.
    ///
    /// - Throws: ``LuaError`` if a metamethod raises, or the value cannot be converted.
    public func get<Value: LuaConvertible>(_ key: LuaValue, as type: Value.Type = Value.self) throws(LuaError) -> Value {
        try Value.fromLua(get(key))
    }

    /// Returns the length, like `#table` in Lua, including `__len`.
    ///
    /// - Throws: ``LuaError`` if a metamethod raises.
    public func count() throws(LuaError) -> Int {
        try core.prepare()
        reference.push(on: core.L)
        return try Int.fromLua(core.run(plua_length) { core.takeValues(1)[0] })
    }

    /// Returns the metatable; `nil` if the table has none, or one that is hidden from scripts. Ignores `__metatable`.
    ///
    /// - Throws: ``LuaError`` if the state is closed, or there is not enough memory.
    public func metatable() throws(LuaError) -> LuaTable? {
        try core.prepare()
        reference.push(on: core.L)
        defer { plua_pop(core.L, 1) }
        guard plua_push_metatable(core.L, -1) else { return nil }
        return LuaTable(LuaReference(takingTopOf: core))
    }

    /// Sets the metatable, or removes it with `nil`. Ignores `__metatable`.
    ///
    /// - Throws: ``LuaError`` if the state is closed, or there is not enough memory.
    public func setMetatable(_ metatable: LuaTable?) throws(LuaError) {
        try core.prepare()
        if let metatable { try core.checkOwnership(of: .table(metatable)) }
        reference.push(on: core.L)
        core.push(metatable.map { .table($0) } ?? .nil)
        lua_setmetatable(core.L, -2)
        plua_pop(core.L, 1)
    }

    /// Returns all keys and values, without metamethods. Their order is fixed in a deterministic state and otherwise differs
    /// between processes.
    ///
    /// - Throws: ``LuaError`` if the state is closed, or there is not enough memory.
    public func pairs() throws(LuaError) -> [(key: LuaValue, value: LuaValue)] {
        try core.prepare()
        let L = core.L
        reference.push(on: L)
        let table = lua_gettop(L)
        defer { lua_settop(L, table - 1) }
        var pairs: [(key: LuaValue, value: LuaValue)] = []
        var order: [KeyOrder] = []
        let isOrdered = plua_is_deterministic(L)
        lua_pushnil(L)
        // lua_next cannot raise, because the table does not change during the loop. Creating handles allocates no Lua objects, so
        // no garbage collection can run a script's finalizers.
        while lua_next(L, table) != 0 {
            try core.chargeCopy(textInBytes: textInBytes(at: -2) + textInBytes(at: -1))
            pairs.append((core.value(at: -2), core.value(at: -1)))
            if isOrdered { order.append(KeyOrder(pairs[pairs.count - 1].key, number: plua_object_number(L, -2))) }
            plua_pop(L, 1)
        }
        return isOrdered ? pairs.indices.sorted { order[$0] < order[$1] }.map { pairs[$0] } : pairs
    }

    private func textInBytes(at index: Int32) -> Int {
        lua_type(core.L, index) == LUA_TSTRING ? Int(lua_rawlen(core.L, index)) : 0
    }

    /// Returns the values of the keys 1, 2, 3, ... up to the first `nil`, without metamethods.
    ///
    /// - Throws: ``LuaError`` if the state is closed, or there is not enough memory.
    public func array() throws(LuaError) -> [LuaValue] {
        try core.prepare()
        let L = core.L
        reference.push(on: L)
        defer { plua_pop(L, 1) }
        var values: [LuaValue] = []
        while lua_rawgeti(L, -1, lua_Integer(values.count + 1)) != LUA_TNIL {
            values.append(core.takeValues(1)[0])
        }
        plua_pop(L, 1)
        return values
    }

    /// Sets a field of the table to a Swift function; see ``LuaState/makeFunction(_:_:)``.
    ///
    /// - Throws: ``LuaError`` with code `memory` if there is not enough memory.
    public func setFunction(
        _ name: String, _ body: @escaping (LuaArguments) throws -> [LuaValue]
    ) throws(LuaError) {
        try set(name) { core.pushFunction(name, body) }
    }

    /// Sets a field of the table to a C function; see ``LuaState/makeFunction(c:)``.
    ///
    /// - Throws: ``LuaError`` with code `memory` if there is not enough memory.
    public func setFunction(_ name: String, c function: @escaping LuaCFunction) throws(LuaError) {
        try set(name) { lua_pushcclosure(core.L, function, 0) }
    }

    /// Sets a field to the value that a closure pushes, without creating a handle.
    private func set(_ name: String, pushing push: () -> Void) throws(LuaError) {
        try core.prepare()
        reference.push(on: core.L)
        core.push(name)
        push()
        try core.run(plua_set)
    }
}
