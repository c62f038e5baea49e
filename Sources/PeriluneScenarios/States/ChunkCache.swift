internal import PeriluneLua
internal import Synchronization

/// A cache of compiled scenario files. Each file is compiled to bytecode once, and loaded for each of its scenarios.
final class ChunkCache: Sendable {
    private struct Entry {
        let source: [UInt8]
        let chunk: LuaCompiledChunk
    }

    private let entries = Mutex<[String: Entry]>([:])
    /// The rewritten texts of modules, with the original texts.
    private let modules = Mutex<[String: (source: [UInt8], prepared: LuaString)]>([:])

    /// Returns the rewritten text of a module, which is the text to load.
    ///
    /// - Parameter prepare: Rewrites the text, or returns the cached result that it receives.
    func module(_ path: String, _ source: [UInt8], prepare: (LuaString?) throws -> LuaString) rethrows -> LuaString {
        let known = modules.withLock { $0[path].flatMap { $0.source == source ? $0.prepared : nil } }
        let text = try prepare(known)
        if known == nil { modules.withLock { $0[path] = (source, text) } }
        return text
    }

    /// Installs `compile(path, source, rewrite)` for the scenario library. The function rewrites and compiles a file, or loads its cached
    /// bytecode.
    func install(in host: LuaTable) throws {
        try host.setFunction("compile") { [self] arguments in
            let path: String = try arguments.get(1)
            let source: LuaString = try arguments.get(2)
            let state = try arguments.state
            if let chunk = chunk(of: path, source.bytes) { return [.function(try state.load(chunk))] }
            let rewrite: LuaFunction = try arguments.get(3)
            let text: LuaString = try LuaString.fromLua(rewrite.call([.string(source), .string(LuaString(path))]).first ?? .nil)
            let function = try state.load(text, named: path)
            if let chunk = try function.compiled(named: "@" + path) {
                entries.withLock { $0[path] = Entry(source: source.bytes, chunk: chunk) }
            }
            return [.function(function)]
        }
    }

    private func chunk(of path: String, _ source: [UInt8]) -> LuaCompiledChunk? {
        entries.withLock { entries in
            guard let entry = entries[path], entry.source == source else { return nil }
            return entry.chunk
        }
    }
}
