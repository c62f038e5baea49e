internal import Foundation
internal import Perilune

// Runs the scripts of hosts in other programs; see `ScriptWorker`.
ScriptWorker.runIfStarted()
FileHandle.standardError.write(
    Data("perilune-worker is started by programs that isolate scripts; run scripts with `perilune run`\n".utf8))
exit(64)
