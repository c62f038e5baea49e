internal import Glibc
internal import PeriluneIsolation

// Applies all layers of isolation, attempts the named action, and prints the result: "allowed", or the error number.
//
//     perilune-isolation-probe FOLDER ATTEMPT
//
// Started as a worker process, the probe behaves like a process that a script has taken over: it sends the bytes in its database
// file.

let arguments = CommandLine.arguments
if WorkerEntry.isConnected, arguments.count == 2 { sendBytesOfDatabase() }
var rules = IsolationRules()
rules.writable = [arguments[1]]
rules.memoryInBytes = 64 << 20
let layers = rules.enclose().union(rules.seal())

let names = [EPERM: "EPERM", EACCES: "EACCES", ENOENT: "ENOENT", ENOMEM: "ENOMEM", ENOSYS: "ENOSYS"]

func result(_ status: Int) -> String { status >= 0 ? "allowed" : names[errno] ?? "error \(errno)" }

func attempt(_ name: String) -> String {
    switch name {
    case "layers": return layers.map(\.description).sorted().joined(separator: " ")
    case "write inside": return result(Int(open(arguments[1] + "/new", O_CREAT | O_RDWR, 0o600)))
    case "read outside": return result(Int(open("/etc/passwd", O_RDONLY)))
    case "list outside": return opendir("/etc") == nil ? result(-1) : "allowed"
    case "write outside": return result(Int(open("/tmp/perilune-isolation-probe", O_CREAT | O_RDWR, 0o600)))
    case "read zones": return result(Int(open("/usr/share/zoneinfo/UTC", O_RDONLY)))
    case "socket": return result(Int(socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)))
    case "fork":
        let id = fork_()
        if id == 0 { _exit(0) }
        return result(Int(id))
    case "exec":
        var words: [UnsafeMutablePointer<CChar>?] = [strdup("/bin/true"), nil]
        return result(Int(execv("/bin/true", &words)))
    case "signal parent": return result(Int(kill(getppid(), 0)))
    case "executable memory":
        return mmap(nil, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? result(-1) : "allowed"
    case "much memory":
        return mmap(nil, 1 << 30, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED
            ? result(-1) : "allowed"
    case "thread":
        var thread = pthread_t()
        let status = pthread_create(
            &thread, nil, { _ in open("/etc/passwd", O_RDONLY) < 0 ? nil : UnsafeMutableRawPointer(bitPattern: 1) }, nil)
        guard status == 0 else { return "no thread: \(status)" }
        var read: UnsafeMutableRawPointer?
        pthread_join(thread, &read)
        return read == nil ? "the thread reads nothing" : "allowed"
    default: return "unknown"
    }
}

func sendBytesOfDatabase() -> Never {
    let channel = WorkerEntry.openChannel()
    guard let hello = try? channel.receive(), let path = hello.values.first?["database"]?.text else { exit(1) }
    sendBytes(of: path, channel)
    // The bytes to send after the first request.
    if access(path + ".late", R_OK) == 0, let frame = try? channel.receive() {
        _ = frame
        sendBytes(of: path + ".late", channel)
    }
    // If the name of the database ends with "deaf", the process keeps running without reading.
    while path.hasSuffix("deaf") { pause() }
    while let frame = try? channel.receive() { _ = frame }
    exit(0)
}

func sendBytes(of path: String, _ channel: FrameChannel) {
    let file = open(path, O_RDONLY)
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while case let count = read(file, &buffer, buffer.count), count > 0 {
        var sent = 0
        while sent < count,
            case let more = send(channel.descriptor, Array(buffer[sent..<count]), count - sent, Int32(MSG_NOSIGNAL)), more > 0
        {
            sent += more
        }
    }
}

/// Calls `fork`, which is unavailable in Swift.
func fork_() -> pid_t {
    typealias Fork = @convention(c) () -> pid_t
    return unsafeBitCast(dlsym(nil, "fork"), to: Fork.self)()
}

for name in arguments.dropFirst(2) {
    print(name + ": " + attempt(name))
    // Flushes immediately, because the next attempt may end the process.
    fflush(nil)
}
