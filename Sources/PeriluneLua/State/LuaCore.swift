internal import CPeriluneShim
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif
import Synchronization

/// The implementation behind ``LuaState`` and its handles: the `lua_State`, the conversion of values between Swift and Lua, and
/// the references to release.
///
/// Handles retain the core and not the ``LuaState``, so a Swift function that captures handles does not create a reference cycle.
/// All members belong to the state's thread, except ``releaseLater(_:)`` and ``cancel(_:)``.
///
/// `@unchecked Sendable`: the deinitializers of handles run on any thread, and locks protect the members that they use.
package final class LuaCore: @unchecked Sendable {
    /// The main state, or the coroutine from which Lua called the Swift function that is running.
    ///
    /// Unchecked because the pointer is accessed on one thread and only for an instant, and the check would cost more than the
    /// access.
    @exclusivity(unchecked) package private(set) var L: OpaquePointer
    package let main: OpaquePointer
    package private(set) var isOpen = true
    /// Whether the state must close once no script or Swift function runs in it.
    private var isClosing = false

    /// The number of nested calls from Swift into Lua.
    var depth = 0
    /// The number of nested calls from Lua into Swift. A script's finalizer may make such a call while no run is active.
    private var swiftDepth = 0
    package internal(set) var limits = LuaLimits()
    var exitStatus: Int32 = 0
    /// The last error that Swift rethrew into Lua. Lua keeps only the raised value, not the code.
    private var raisedAgain: (value: LuaReference, code: LuaError.Code)?
    /// The operation requested by an asynchronous function. The driver performs it.
    var pendingOperation: PendingOperation?
    /// The functions that convert between the userdata of database libraries and plain values.
    package var libraryValues: LibraryValues?
    /// Decides whether scripts see the text of an error that is neither ``LuaError`` nor ``LuaErrorDescribing``. If `nil`, they
    /// always see it.
    var disclosesText: ((any Error) -> Bool)?
    /// The number of bytes that the current copy of a value may still use; `nil` if no value is being copied.
    var copyAllowance: Int?
    /// The Swift object of the state, which exists while any Swift function runs.
    weak var state: LuaState?
    /// The thread of the state; `nil` if the owner has not set one.
    package weak var thread: LuaThread?

    private let released = Mutex<[CInt]>([])
    /// Whether ``released`` may contain elements. The check is too frequent to take the lock each time.
    private let hasReleased = Atomic(false)
    let runs = Mutex<RunList>(RunList())

    init(isDeterministic: Bool) throws(LuaError) {
        guard let L = plua_new_state(nil, callSwiftFunction, isDeterministic) else {
            throw LuaError(.memory, "not enough memory for a Lua state")
        }
        self.L = L
        main = L
        let context = plua_context_of(L)!
        context.pointee.owner = Unmanaged.passUnretained(self).toOpaque()
        let shared = RunList.SharedContext(pointer: context)
        runs.withLock { $0.context = shared }
    }

    deinit {
        close()
    }

    /// The context of an open state, which is freed with the state.
    var context: UnsafeMutablePointer<plua_context> {
        assert(isOpen, "the context of a closed Lua state is used")
        return plua_context_of(main)
    }

    /// Closes the state, or marks it for closing if something is running in it.
    func close() {
        guard isOpen else { return }
        guard depth == 0, swiftDepth == 0, !hasSuspendableRuns else {
            isClosing = true
            return
        }
        isOpen = false
        // The handles in these properties retain the core.
        raisedAgain = nil
        pendingOperation = nil
        runs.withLock { $0.context = nil }
        plua_close_state(main) { Unmanaged<AnyObject>.fromOpaque($0!).release() }
    }

    private func requireOpen() throws(LuaError) {
        guard isOpen else { throw LuaError(.usage, "the Lua state is closed") }
    }

    /// Traps in debug builds if the caller is not on the state's thread, because using the state from another thread can corrupt
    /// it.
    package func assertThread() {
        assert(
            thread?.isCurrent ?? true, "a Lua state is used on a thread other than its own: code has left the actor of its host")
    }

    // MARK: - Releasing

    func releaseLater(_ id: CInt) {
        released.withLock { $0.append(id) }
        hasReleased.store(true, ordering: .releasing)
    }

    /// Releases the references of deinitialized handles and the Swift values of collected userdata.
    func drain() {
        hasReleased.store(false, ordering: .relaxed)
        let ids = released.withLock { list in
            defer { list.removeAll() }
            return list
        }
        for id in ids { plua_unreference(L, id) }
        guard context.pointee.garbage_count > 0 else { return }
        var objects: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
        let count = plua_take_garbage(context, &objects)
        for index in 0..<count { Unmanaged<AnyObject>.fromOpaque(objects![index]!).release() }
        plua_free(objects)
    }

    /// Drains if any references or objects are waiting to be released. Called at the start and end of each call from a script into
    /// Swift. Otherwise handles of arguments would keep values alive until the run ends, even if the script no longer uses them.
    package func drainIfNeeded() {
        if context.pointee.garbage_count > 0 || hasReleased.load(ordering: .acquiring) { drain() }
    }

    // MARK: - Calling

    /// Calls the function that was pushed before its arguments, and pops its results.
    package func call(argumentCount: Int) throws(LuaError) -> [LuaValue] {
        let base = Int(lua_gettop(L)) - argumentCount - 1
        return try run({ plua_pcall($0, CInt(argumentCount), LUA_MULTRET) }) { takeValues(Int(lua_gettop(L)) - base) }
    }

    /// Runs a shim operation that may execute Lua code. The limits apply, and the operation is a separate run unless a run is
    /// already active.
    ///
    /// - Parameter takingResults: Pops the results.
    /// - Throws: The error on top of the stack if the operation failed.
    package func run<Result>(
        _ operation: (OpaquePointer) -> CInt, takingResults: () -> Result
    ) throws(LuaError) -> Result {
        beginRun()
        // Ending the run clears the reason why it ended and may close the state, so this happens last.
        defer { endRun() }
        let status = operation(L)
        guard status == LUA_OK else { throw takeError(status: status) }
        let results = takingResults()
        // The script may have ended before it noticed an exceeded limit or a cancellation, but the caller must still get the error.
        if depth == 1, limits.isLimited { _ = plua_poll(context) }
        if depth == 1, cancelReason != .none { throw currentLimits.error(for: cancelReason, exitStatus: exitStatus) }
        return results
    }

    package func run(_ operation: (OpaquePointer) -> CInt) throws(LuaError) {
        try run(operation) {}
    }

    func beginRun() {
        assertThread()
        depth += 1
        drain()
        guard depth == 1 else { return }
        if let run = waitingRun { resume(run) } else { beginPlainRun() }
    }

    func endRun() {
        if depth == 1 {
            if let run = waitingRun { suspend(run) } else { limits.stop(context) }
        }
        depth -= 1
        closeIfAsked()
    }

    /// The unfinished run in this state that waits for the current task.
    private var waitingRun: LuaRun? {
        guard let run = LuaRun.waiting, run.core === self, !run.isOver else { return nil }
        return run
    }

    /// Closes the state if closing was requested while something was running.
    func closeIfAsked() {
        if isClosing { close() }
    }

    /// Runs Swift code for a call from Lua, with ``L`` set to the calling coroutine.
    package func entering<Result>(_ L: OpaquePointer, _ body: () -> Result) -> Result {
        assertThread()
        let outer = self.L
        self.L = L
        swiftDepth += 1
        defer {
            self.L = outer
            swiftDepth -= 1
        }
        return body()
    }

    // MARK: - Errors

    /// The reason why a limit, the host or `os.exit` is ending the run.
    var cancelReason: LuaCancelReason { LuaCancelReason(rawValue: plua_cancel_reason_of(context)) ?? .none }

    /// Pops the raised value and returns it as an error.
    package func takeError(status: CInt) -> LuaError {
        plua_push_failure(L, -1)
        let traceback = string(at: -3)?.description
        let position = (file: string(at: -2)?.description, line: lua_isinteger(L, -1) != 0 ? integer(at: -1) : nil)
        plua_pop(L, 3)
        // Lua adds the position to string messages, except after `error(message, 0)`.
        let isPlainMessage = status == LUA_ERRRUN && lua_type(L, -1) == LUA_TSTRING
        var error = makeError(status: status, isRaisedAgain: traceback != nil)
        raisedAgain = nil
        error.traceback = error.traceback ?? traceback
        if error.file == nil, error.code != .syntax, !isPlainMessage {
            error.file = position.file
            error.line = position.line
        }
        return error
    }

    private func makeError(status: CInt, isRaisedAgain: Bool) -> LuaError {
        if cancelReason != .none {
            plua_pop(L, 1)
            return currentLimits.error(for: cancelReason, exitStatus: exitStatus)
        }
        if let payload = plua_error_payload(L, -1) { return makeError(ofErrorObjectWith: payload) }
        let code: LuaError.Code =
            switch status {
            case LUA_ERRSYNTAX: .syntax
            case LUA_ERRMEM: .memory
            case LUA_ERRERR: .errorHandling
            default: isRaisedAgain ? codeOfRaisedAgain() ?? .runtime : .runtime
            }
        var error = makeError(code, ofValueAt: -1)
        error.value = LuaReference(takingTopOf: self)
        return error
    }

    /// Returns the original code of the error on top of the stack if it is the last error that Swift rethrew.
    private func codeOfRaisedAgain() -> LuaError.Code? {
        guard let raisedAgain else { return nil }
        raisedAgain.value.push(on: L)
        defer { plua_pop(L, 1) }
        return lua_rawequal(L, -1, -2) != 0 ? raisedAgain.code : nil
    }

    private func makeError(_ code: LuaError.Code, ofValueAt index: CInt) -> LuaError {
        if let message = cutString(at: index)?.description {
            let (file, line, text) = splitPosition(message)
            var error = LuaError(code, text)
            error.file = file
            error.line = line
            return error
        }
        if lua_type(L, index) == LUA_TTABLE {
            let fields = errorFields(ofTableAt: index)
            let message = fields["message"]?.text ?? describe(at: index)
            var error = LuaError(code, message)
            error.fields = fields
            return error
        }
        return LuaError(code, describe(at: index))
    }

    /// Returns the description of a raised value from its `__tostring` metamethod, which runs within the remaining limits.
    private func describe(at index: CInt) -> String {
        let type = "\(valueDescription(at: index)) was raised"
        guard lua_checkstack(L, 5) != 0, luaL_getmetafield(L, index, "__tostring") != LUA_TNIL else { return type }
        plua_pop(L, 1)
        lua_pushvalue(L, index)
        defer { plua_pop(L, 1) }
        guard plua_to_string(L) == LUA_OK, let text = string(at: -1) else { return type }
        return LuaString(text.bytes.prefix(10_000)).description
    }

    private func makeError(ofErrorObjectWith payload: UnsafeMutablePointer<UnsafeMutableRawPointer?>) -> LuaError {
        let thrown = payload.pointee.map { Unmanaged<ThrownError>.fromOpaque($0).takeUnretainedValue() }
        plua_push_error_fields(L, -1)
        let fields = errorFields(ofTableAt: -1)
        plua_pop(L, 1)
        let message = fields["message"]?.text ?? ""
        var error = LuaError(thrown == nil ? .runtime : .host, message)
        if let inner = thrown?.error as? LuaError {
            // The error object wraps an error that a Swift function threw.
            error = inner
        } else {
            error.underlying = thrown?.error
        }
        error.fields = fields
        if let file = fields["file"]?.text { error.file = file }
        if case .integer(let line) = fields["line"] { error.line = Int(exactly: line) }
        error.value = LuaReference(takingTopOf: self)
        return error
    }

    /// The maximum number of values read from an error, and their maximum nesting depth. A script can raise a table of any size.
    private static let fieldLimit = (count: 1000, depth: 10)

    /// Returns the plain values under string keys of a table, read without metamethods.
    private func errorFields(ofTableAt index: CInt) -> [String: ScriptValue] {
        var count = Self.fieldLimit.count
        let fields = plainTable(at: index, depth: 0, &count).fields
        return fields.filter { if case .other = $0.value { false } else { true } }
    }

    /// Returns the values of a table under string keys, and its list elements. `count` is the number of nested values that may
    /// still be read.
    private func plainTable(at index: CInt, depth: Int, _ count: inout Int) -> (
        fields: [String: ScriptValue], list: [ScriptValue]?
    ) {
        var fields: [String: ScriptValue] = [:], elements: [Int: ScriptValue] = [:]
        let table = lua_absindex(L, index)
        lua_pushnil(L)
        // The iteration is raw and the table does not change during it, so lua_next cannot raise.
        while lua_next(L, table) != 0 {
            if lua_type(L, -2) == LUA_TSTRING, let key = string(at: -2) {
                fields[key.description] = plainValue(at: -1, depth: depth, &count)
            } else if depth > 0, lua_isinteger(L, -2) != 0, count > 0 {
                elements[integer(at: -2)] = plainValue(at: -1, depth: depth, &count)
            }
            plua_pop(L, 1)
        }
        guard fields.isEmpty else { return (fields, nil) }
        let list = (0..<elements.count).compactMap { elements[$0 + 1] }
        return (fields, list.count == elements.count ? list : nil)
    }

    private func plainValue(at index: CInt, depth: Int, _ count: inout Int) -> ScriptValue {
        if depth > 0 { count -= 1 }
        switch lua_type(L, index) {
        case LUA_TBOOLEAN: return .boolean(lua_toboolean(L, index) != 0)
        case LUA_TNUMBER:
            return lua_isinteger(L, index) != 0 ? .integer(Int64(integer(at: index))) : .number(lua_tonumberx(L, index, nil))
        case LUA_TSTRING:
            guard let bytes = cutString(at: index)?.bytes else { break }
            return String(validating: bytes, as: UTF8.self).map { .string($0) } ?? .bytes(Data(bytes))
        case LUA_TTABLE where depth < Self.fieldLimit.depth && count > 0 && lua_checkstack(L, 5) != 0:
            let (fields, list) = plainTable(at: index, depth: depth + 1, &count)
            return list.map { .list($0) } ?? .fields(fields)
        case LUA_TUSERDATA where libraryValues != nil && lua_checkstack(L, 5) != 0:
            lua_pushvalue(L, index)
            if let value = takeValues(1)[0].libraryValue { return value }
        default: break
        }
        return .other(valueDescription(at: index))
    }

    /// Returns the Lua value for a field of an error, or Lua's `nil` if the field cannot be converted in this state.
    private func luaValue(of field: ScriptValue) -> LuaValue {
        switch field {
        case .boolean(let value): .boolean(value)
        case .integer(let value): .integer(value)
        case .number(let value): .number(value)
        case .string(let value): .string(LuaString(value))
        case .bytes(let value): .string(LuaString(value))
        case .nil, .null, .date, .list, .fields, .other: state.flatMap { try? field.toLua(in: $0) } ?? .nil
        }
    }

    /// Pushes the value that a script catches for a Swift error. For an error that was raised in this state, it is the original
    /// value.
    package func push(_ error: any Error) {
        if let error = error as? LuaError, let value = error.value, value.core === self {
            value.push(on: L)
            raisedAgain = (value, error.code)
            guard let traceback = error.traceback else { return }
            push(.string(LuaString(traceback)))
            push(error.file.map { .string(LuaString($0)) } ?? .nil)
            push(error.line.map { .integer(Int64($0)) } ?? .nil)
            plua_restore_failure(L)
            return
        }
        if let error = error as? any LuaErrorPushing {
            error.pushErrorObject(on: L)
            attachToErrorObject(error.underlying)
            plua_add_position(L)
            return
        }
        pushErrorObject(for: error)
    }

    private func pushErrorObject(for error: any Error) {
        let kind: String
        let message: String
        var fields: [String: ScriptValue] = [:]
        switch error {
        case let error as any LuaErrorDescribing:
            (kind, message, fields) = (error.luaKind, error.luaMessage, error.luaFields)
        case let error as LuaError:
            (kind, message, fields) = (error.kind?.rawValue ?? error.code.description, error.message, error.fields)
            // The error comes from another state or from the program, so the SQL is not part of the script and must not be
            // disclosed.
            if disclosesText != nil { (fields["sql"], fields["offset"]) = (nil, nil) }
            if let file = error.file, fields["file"] == nil {
                fields["file"] = .string(file)
                fields["line"] = error.line.map { .integer(Int64($0)) }
            }
        case is CancellationError:
            (kind, message) = ("cancelled", "the operation was cancelled")
        default:
            let isShown = disclosesText?(error) ?? true
            (kind, message) = ("host", isShown ? ErrorMessage.of(error) : LuaState.withheldMessage)
        }
        plua_push_empty_error(L)
        fields["kind"] = .string(kind)
        fields["message"] = .string(message)
        for (name, value) in fields {
            push(luaValue(of: value))
            plua_set_error_field(L, name)
        }
        plua_add_position(L)
        plua_error_payload(L, -1)!.pointee = Unmanaged.passRetained(ThrownError(error)).toOpaque()
    }

    /// Returns the table in which the error object on top of the stack stores its fields; `nil` for any other value.
    package func fieldsOfErrorObject() -> LuaTable? {
        guard lua_checkstack(L, 4) != 0, plua_is_error(L, -1) else { return nil }
        plua_push_error_fields(L, -1)
        return LuaTable(LuaReference(takingTopOf: self))
    }

    /// Attaches a Swift error to the error object on top of the stack. It becomes the ``LuaError/underlying`` error when the object
    /// reaches Swift.
    package func attachToErrorObject(_ error: any Error) {
        guard let payload = plua_error_payload(L, -1), payload.pointee == nil else { return }
        payload.pointee = Unmanaged.passRetained(ThrownError(error)).toOpaque()
    }

    /// Returns the core of a `lua_State`.
    package static func of(_ L: OpaquePointer) -> LuaCore {
        Unmanaged<LuaCore>.fromOpaque(plua_context_of(L).pointee.owner).takeUnretainedValue()
    }

    /// Whether this state runs Lua code on the calling thread.
    package var isRunningHere: Bool {
        isOpen && plua_running_context() == context
    }

    // MARK: - Values

    func string(at index: CInt) -> LuaString? {
        guard lua_type(L, index) == LUA_TSTRING else { return nil }
        var length = 0
        // The value is already a string, so lua_tolstring does not convert it in place.
        guard let bytes = lua_tolstring(L, index, &length) else { return nil }
        return LuaString(UnsafeRawBufferPointer(start: bytes, count: length))
    }

    /// Returns a string for an error message, truncated to 1 MB in a state with limits, because the Swift copy does not count
    /// against the memory limit.
    private func cutString(at index: CInt) -> LuaString? {
        let most: lua_Unsigned = 1 << 20
        guard context.pointee.limited, lua_type(L, index) == LUA_TSTRING, lua_rawlen(L, index) > most else {
            return string(at: index)
        }
        return lua_tolstring(L, index, nil).map { LuaString(UnsafeRawBufferPointer(start: $0, count: Int(most))) }
    }

    func integer(at index: CInt) -> Int {
        Int(lua_tointegerx(L, index, nil))
    }

    /// Returns a description of the value at an index, for error messages about wrong types.
    func valueDescription(at index: CInt) -> String {
        defer { plua_pop(L, 1) }
        return String(cString: plua_describe(L, index))
    }

    /// Returns the value at an index. A handle keeps its object alive.
    package func value(at index: CInt) -> LuaValue {
        switch lua_type(L, index) {
        case LUA_TBOOLEAN: return .boolean(lua_toboolean(L, index) != 0)
        case LUA_TNUMBER:
            return lua_isinteger(L, index) != 0
                ? .integer(lua_tointegerx(L, index, nil)) : .number(lua_tonumberx(L, index, nil))
        case LUA_TSTRING: return .string(string(at: index)!)
        case LUA_TTABLE: return .table(LuaTable(reference(to: index)))
        case LUA_TFUNCTION: return .function(LuaFunction(reference(to: index)))
        case LUA_TUSERDATA, LUA_TLIGHTUSERDATA: return .userdata(LuaUserdata(reference(to: index)))
        case LUA_TTHREAD: return .coroutine(LuaCoroutine(reference(to: index)))
        default: return .nil
        }
    }

    func reference(to index: CInt) -> LuaReference {
        lua_pushvalue(L, index)
        return LuaReference(takingTopOf: self)
    }

    /// Pushes a value. The caller ensures that its handle belongs to this state.
    package func push(_ value: LuaValue) {
        switch value {
        case .nil: lua_pushnil(L)
        case .boolean(let value): lua_pushboolean(L, value ? 1 : 0)
        case .integer(let value): lua_pushinteger(L, value)
        case .number(let value): lua_pushnumber(L, value)
        case .string(let value): push(value)
        case .table(let value): value.reference.push(on: L)
        case .function(let value): value.reference.push(on: L)
        case .userdata(let value): value.reference.push(on: L)
        case .coroutine(let value): value.reference.push(on: L)
        }
    }

    func push(_ string: LuaString) {
        string.bytes.withUnsafeBytes { bytes in
            _ = lua_pushlstring(L, bytes.baseAddress?.assumingMemoryBound(to: CChar.self) ?? emptyString, bytes.count)
        }
    }

    func push(_ string: String) {
        var string = string
        string.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { bytes in
                _ = lua_pushlstring(L, bytes.baseAddress ?? emptyString, bytes.count)
            }
        }
    }

    /// Pushes values after checking that they belong to this state and that the stack has room.
    package func push(contentsOf values: some Collection<LuaValue>) throws(LuaError) {
        guard values.count < 1_000_000, lua_checkstack(L, CInt(values.count) + 10) != 0 else {
            throw LuaError(.usage, "too many values for a call: \(values.count)")
        }
        for value in values { try checkOwnership(of: value) }
        for value in values { push(value) }
    }

    func checkOwnership(of value: LuaValue) throws(LuaError) {
        let reference: LuaReference? =
            switch value {
            case .table(let value): value.reference
            case .function(let value): value.reference
            case .userdata(let value): value.reference
            case .coroutine(let value): value.reference
            default: nil
            }
        guard let reference, reference.core !== self else { return }
        throw LuaError(.usage, "\(value.typeName) of another Lua state cannot be used here")
    }

    /// Pops the topmost values and returns them in order.
    package func takeValues(_ count: Int) -> [LuaValue] {
        guard count > 0 else { return [] }
        let values = (0..<count).map { value(at: CInt($0 - count)) }
        plua_pop(L, CInt(count))
        return values
    }

    /// Checks that the state is open, and makes room on the stack for an operation.
    package func prepare() throws(LuaError) {
        assertThread()
        if isClosing { close() }
        try requireOpen()
        guard lua_checkstack(L, 20) != 0 else { throw LuaError(.memory, "the Lua stack cannot grow any more") }
    }
}

/// A valid pointer for empty strings.
private nonisolated(unsafe) let emptyString: UnsafePointer<CChar> = {
    // The memory is never freed or modified, so sharing it is safe.
    let terminator = UnsafeMutablePointer<CChar>.allocate(capacity: 1)
    terminator.initialize(to: 0)
    return UnsafePointer(terminator)
}()

/// A container for a Swift error while Lua propagates it.
final class ThrownError {
    let error: any Error

    init(_ error: any Error) {
        self.error = error
    }
}

/// Splits a message such as `chunk:12: message` into file, line and text.
func splitPosition(_ message: String) -> (file: String?, line: Int?, message: String) {
    let text = message.utf8
    var searched = text.startIndex
    while let colon = text[searched...].firstIndex(of: UInt8(ascii: ":")) {
        let digits = text[text.index(after: colon)...].prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        let rest = text[digits.endIndex...]
        if !digits.isEmpty, rest.starts(with: ": ".utf8), let line = Int(Substring(digits)) {
            return (String(message[..<colon]), line, String(message[text.index(digits.endIndex, offsetBy: 2)...]))
        }
        // A file name may contain a colon, but no line break.
        if text[searched..<colon].contains(UInt8(ascii: "\n")) { break }
        searched = text.index(after: colon)
    }
    return (nil, nil, message)
}
