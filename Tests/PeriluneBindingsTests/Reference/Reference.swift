import Foundation
import PeriluneLua
import PeriluneLuaFileTools

/// The reference of the script API, as `lib/reference` reads it.
struct Reference: Codable, Sendable {
    /// A function in the reference.
    struct Function: Codable, Sendable, CustomStringConvertible {
        /// The form of a call: `db:fetch_all`.
        var name: String
        var member: String
        var page: String
        var isScenario: Bool
        /// The file and line of its description.
        var place: String
        var text: String
        var parameters: [String]
        /// The documented parameters.
        var described: [String]
        var examples: [String]
        /// The kinds of errors that the function raises; `nil` if they are not documented.
        var raises: [String]?
        var access: String?
        var waits: String?

        var description: String { "\(name) (\(place))" }
    }

    /// The names of a class's members, without and with inherited ones.
    struct Class: Codable, Sendable {
        var own: [String]
        var all: [String]
        /// The variable name that examples use for objects of the class, such as `db` or `request`.
        var variable: String?
    }

    var functions: [Function]
    var classes: [String: Class]
    /// The global functions, which belong to no class.
    var globals: [String]
    /// The Lua code that creates the database of the examples.
    var database: String
    /// The files of the project in which examples of scenarios run.
    var project: [String: String]
    /// The text of each file that is generated from the reference, by path.
    var made: [String: String]
    /// The type definitions for editors, for scripts and for scenarios.
    var types: [String]
    /// The kinds of errors that the alias `perilune.error_kind` lists.
    var kinds: [String]

    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    static let current = Result { try Reference.read() }

    static func text(of path: String) -> String? {
        try? String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// Reads the reference with the Lua modules that generate everything else from it.
    private static func read() throws -> Reference {
        let state = try LuaState()
        defer { state.close() }
        try state.addModuleResolver { name in
            let path = "lib/" + name.replacing(".", with: "/")
            let text = text(of: path + ".lua") ?? text(of: path + "/init.lua")
            return text.map { .source(LuaString($0), name: path) }
        }
        try state.globals.setFunction("read") { arguments in
            let path: String = try arguments.get(1)
            return [text(of: path).map { .string(LuaString($0)) } ?? .nil]
        }
        return try state.load(question, named: "reference").call(decoding: Reference.self)
    }

    private static let question = """
        local reference = require "reference"
        local index = reference.read(function(name) return read("lib/reference/api/" .. name .. ".lua") end)
        local result = { functions = {}, classes = {}, globals = {}, database = reference.database, project = reference.project,
          made = require("reference.files").all(read), kinds = {},
          types = { require("reference.types").text(index, false), require("reference.types").text(index, true) } }
        local function names(list, field)
          local found = {}
          for position, value in ipairs(list) do found[position] = value[field] end
          return found
        end
        for position, item in ipairs(index.functions) do
          local raises, is_said = reference.raises(item)
          local parameters, examples = {}, {}
          for name in item.parameters:gmatch("[%w_.]+") do parameters[#parameters + 1] = name end
          for number, lines in ipairs(item.examples) do examples[number] = table.concat(lines, "\\n") end
          result.functions[position] = {
            name = item.name, member = item.member, page = item.page.name, isScenario = item.page.is_scenario, place = item.place,
            text = table.concat(item.text, "\\n"), parameters = parameters, described = names(item.params, "name"), examples = examples,
            raises = is_said and names(raises, "kind") or nil, access = reference.access(item), waits = reference.waits(item),
          }
          if not item.class then result.globals[#result.globals + 1] = item.name end
        end
        for _, class in ipairs(index.class_list) do
          local own, all = names(class.members, "member"), {}
          for _, field in ipairs(class.fields) do
            if field.name:find("^[%a_]") then own[#own + 1] = field.name end
          end
          for name in pairs(index:members(class.name)) do all[#all + 1] = name end
          result.classes[class.name] = { own = own, all = all, variable = class.variable }
        end
        for _, page in ipairs(index.pages) do
          for _, part in ipairs(page.parts) do
            if part.kind == "alias" and part.name == "perilune.error_kind" then
              for kind in part.type:gmatch('"(.-)"') do result.kinds[#result.kinds + 1] = kind end
            end
          end
        end
        return result
        """
}
