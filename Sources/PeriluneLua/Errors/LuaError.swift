/// An error raised in Lua, or at the boundary between Lua and Swift.
public struct LuaError: Error {
    /// The class of an error. New codes may be added.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value: String {
            case syntax, runtime, host, memory, errorHandling = "error handling"
            case timeout, cancelled, budget, disk, exit
            case conversion, usage, crashed
        }

        private let value: Value

        /// The source text does not parse.
        public static let syntax = Code(value: .syntax)
        /// The script raised an error.
        public static let runtime = Code(value: .runtime)
        /// A Swift function called by the script threw an error; see ``LuaError/underlying``.
        public static let host = Code(value: .host)
        /// The memory limit was exceeded, or the machine ran out of memory.
        public static let memory = Code(value: .memory)
        /// An error was raised while another error was being handled.
        public static let errorHandling = Code(value: .errorHandling)
        /// The time limit was exceeded.
        public static let timeout = Code(value: .timeout)
        /// The host ended the run. If its task was cancelled, the call throws `CancellationError` instead.
        public static let cancelled = Code(value: .cancelled)
        /// The instruction limit was exceeded.
        public static let budget = Code(value: .budget)
        /// The limit for writes to files was exceeded.
        public static let disk = Code(value: .disk)
        /// The script called `os.exit`. The field `status` contains the exit status.
        public static let exit = Code(value: .exit)
        /// A value does not have the type that Swift requested.
        public static let conversion = Code(value: .conversion)
        /// The API was misused: the state is closed, or a handle belongs to another state or to a scope that has ended.
        public static let usage = Code(value: .usage)
        /// The process in which the script ran has crashed. The field `signal` contains the number of the signal that ended it.
        public static let crashed = Code(value: .crashed)

        /// Creates the code with the given description, or `nil` if no code has it.
        package init?(description: String) {
            guard let value = Value(rawValue: description) else { return nil }
            self.value = value
        }

        private init(value: Value) {
            self.value = value
        }

        public var description: String { value.rawValue }

        /// Whether a limit or a cancellation ended the run. Scripts cannot catch such an error.
        public var isLimit: Bool {
            [.timeout, .cancelled, .budget, .disk, .memory].contains(self)
        }
    }

    /// The kind of an error object, which identifies the error for programs and scripts. Scripts and Swift functions may define
    /// their own kinds.
    ///
    /// The page LuaErrors of the reference lists the kinds of the library. Most constants have the same words in the same order. For
    /// constraints, the order is reversed: `constraint_unique` is ``uniqueConstraint``. Compare with constants, because a misspelled
    /// literal compiles.
    public struct Kind: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
        /// The text of the field `kind`.
        public let rawValue: String

        /// Creates a kind from its text.
        public init(rawValue: String) { self.rawValue = rawValue }
        public init(stringLiteral value: String) { rawValue = value }

        /// Another connection holds the lock on the database.
        public static let busy = Kind(rawValue: "busy")
        /// The task, the run, or the file that started the run was cancelled.
        public static let cancelled = Kind(rawValue: "cancelled")
        /// An argument or an option is invalid.
        public static let argument = Kind(rawValue: "argument")
        /// No row has the key.
        public static let recordNotFound = Kind(rawValue: "record_not_found")
        /// A record does not meet the rules of its class; the field `errors` lists them.
        public static let validation = Kind(rawValue: "validation")
        /// Another row has the same values in a unique key; the field `columns` lists the key's columns.
        public static let uniqueConstraint = Kind(rawValue: "constraint_unique")
        /// Another row has the same primary key.
        public static let primaryKeyConstraint = Kind(rawValue: "constraint_primary_key")
        /// A column that must not be NULL would be NULL.
        public static let notNullConstraint = Kind(rawValue: "constraint_not_null")
        /// A row refers to a missing row, or other rows still refer to the row being deleted.
        public static let foreignKeyConstraint = Kind(rawValue: "constraint_foreign_key")
        /// A row violates a CHECK of its table.
        public static let checkConstraint = Kind(rawValue: "constraint_check")
        /// A trigger rejected the change with RAISE.
        public static let triggerConstraint = Kind(rawValue: "constraint_trigger")
        /// A value is not of the requested type.
        public static let conversion = Kind(rawValue: "conversion")
        /// The database, the transaction or the value is read-only.
        public static let readonly = Kind(rawValue: "readonly")
        /// The host does not allow scripts to perform the operation.
        public static let forbidden = Kind(rawValue: "forbidden")
        /// A preview cannot perform the operation, because it could not be undone.
        public static let preview = Kind(rawValue: "preview")
        /// A Swift function threw an error without a kind.
        public static let host = Kind(rawValue: "host")
        /// Another host already runs the automations of the file.
        public static let alreadyRunning = Kind(rawValue: "already_running")
        /// The database has no table with this name.
        public static let unknownTable = Kind(rawValue: "unknown_table")
        /// The table has no column with this name.
        public static let unknownColumn = Kind(rawValue: "unknown_column")
        /// `require` found no module with this name.
        public static let moduleNotFound = Kind(rawValue: "module_not_found")
        /// The script printed more than its limit allows.
        public static let output = Kind(rawValue: "output")
        /// The database has reached its quota, or the disk is full.
        public static let full = Kind(rawValue: "full")

        public var description: String { rawValue }
    }

    /// The class of the error.
    public let code: Code
    /// The description of the error for people, without the position.
    public package(set) var message: String
    /// The name of the chunk in which the error was raised.
    public var file: String?
    /// The line of ``file``, from 1.
    public var line: Int?
    /// Lua's traceback at the point of failure.
    public var traceback: String?
    /// The fields of an error object, including `kind` and `message`: text, numbers, dates, and lists and tables of these.
    ///
    /// ```swift
    /// let columns = error.fields["columns"]?.array?.compactMap(\.string)
    /// ```
    ///
    /// Functions and other values that are not plain are left out, as are values nested more than ten tables deep and values beyond
    /// the first 1,000 in nested tables.
    public var fields: [String: ScriptValue] = [:]
    /// The error thrown by a Swift function.
    public var underlying: (any Error)?

    /// Details that only the script's host knows. The last code to throw the error sets them.
    package var hints: LuaErrorHints?

    /// The value that the script raised. Rethrowing the error into Lua raises the same value.
    var value: LuaReference?

    /// Creates an error, which a program's tests can throw from a fake host.
    ///
    /// - Parameters:
    ///   - code: The class of the error.
    ///   - message: The description of the error for people, without the position.
    ///   - fields: The fields of the error object, such as `kind`.
    public init(_ code: Code, _ message: String, fields: [String: ScriptValue] = [:]) {
        self.code = code
        self.message = message
        self.fields = fields
    }

    /// The field `kind` of an error object, which identifies the error for programs, such as `constraint_unique`. The page
    /// LuaErrors of the reference lists the kinds.
    public var kind: Kind? {
        fields["kind"]?.text.map { Kind(rawValue: $0) }
    }

    /// The SQL that failed, without the bound values; `nil` for errors that are not from SQL.
    public var sql: String? {
        fields["sql"]?.text
    }
}

/// Details that help to fix an error but are not available to the code that catches it.
package struct LuaErrorHints: Sendable, Equatable {
    /// The full name of the chunk, which Lua may have shortened.
    package let file: String?
    /// The source text of the error's line.
    package let sourceLine: String?
    package let help: String?
    package let suggestions: [String]

    package init(file: String?, sourceLine: String?, help: String?, suggestions: [String]) {
        (self.file, self.sourceLine, self.help, self.suggestions) = (file, sourceLine, help, suggestions)
    }
}

extension LuaError: CustomStringConvertible {
    /// The message with its position.
    public var description: String {
        guard let file else { return message }
        return line.map { "\(file):\($0): \(message)" } ?? "\(file): \(message)"
    }
}

/// An error that provides a kind and fields for scripts in addition to a message.
///
/// When a Swift function called by a script throws an error of such a type, the script sees an error object with this
/// kind and these fields.
public protocol LuaErrorDescribing: Error {
    /// The kind in `snake_case`, which identifies the error for programs: `record_not_found`.
    var luaKind: String { get }
    /// The message for people, without position.
    var luaMessage: String { get }
    /// The additional fields of the error object.
    var luaFields: [String: ScriptValue] { get }
}

extension LuaErrorDescribing {
    public var luaFields: [String: ScriptValue] { [:] }
}

extension LuaState {
    /// Returns the value that a script would catch if a Swift function threw this error: the raised value if it came from this
    /// state, otherwise an error object with the fields `kind` and `message`, and the fields of ``LuaErrorDescribing``.
    ///
    /// - Returns: Lua's `nil` if the state is closed.
    public func errorValue(of error: any Error) -> LuaValue { core.errorValue(of: error) }
}

extension LuaCore {
    func errorValue(of error: any Error) -> LuaValue {
        guard isOpen else { return .nil }
        push(error)
        return takeValues(1)[0]
    }
}
