internal import Foundation
internal import PeriluneBindings
internal import PeriluneLua

/// A copier of values between two Lua states, from a scenario to a script and back.
struct LuaTransfer {
    let from: LuaState
    let to: LuaState
    /// Whether copying throws for functions, files, coroutines and other values that cannot be copied.
    var isStrict = false

    private static let deepest = 64

    func copy(_ values: [LuaValue]) throws -> [LuaValue] {
        try values.map { try copy($0) }
    }

    func copy(_ value: LuaValue, depth: Int = 0) throws -> LuaValue {
        switch value {
        case .nil, .boolean, .integer, .number, .string: return value
        case .table(let table):
            guard depth < Self.deepest else {
                throw BindingError("argument", "a table passed to another script is nested more than \(Self.deepest) deep")
            }
            let copy = try to.makeTable()
            for (key, value) in try table.pairs() {
                try copy.rawSet(self.copy(key, depth: depth + 1), self.copy(value, depth: depth + 1))
            }
            return .table(copy)
        case .userdata:
            if let date = try? Date.fromLua(value) { return try date.toLua(in: to) }
            if let special = try copyOfLibraryValue(value) { return special }
            return try text(of: value)
        case .function:
            return try .function(standIn(for: value))
        case .coroutine:
            return try text(of: value)
        }
    }

    /// Returns a placeholder for a function, which cannot be copied. Calling the placeholder raises an explanation.
    private func standIn(for function: LuaValue) throws -> LuaFunction {
        try requireLeniency(for: function)
        return try to.makeFunction("function of a script") { _ in
            throw BindingError(
                "argument",
                "a function returned by a script belongs to the state of that script; "
                    + "to test the functions of a module, load it with require")
        }
    }

    /// Returns a copy of `perilune.null` or a blob; `nil` for other values.
    private func copyOfLibraryValue(_ value: LuaValue) throws -> LuaValue? {
        if value.isNull { return try to.makeNull() }
        return try value.blobBytes.map { try to.makeBlob($0) }
    }

    private func text(of value: LuaValue) throws -> LuaValue {
        try requireLeniency(for: value)
        return try from.globals.get("tostring", as: LuaFunction.self).call([value]).first ?? .nil
    }

    private func requireLeniency(for value: LuaValue) throws {
        if isStrict { throw BindingError("argument", "\(value.typeName) cannot be passed to another script") }
    }
}
