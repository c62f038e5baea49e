#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// The identity of a file or folder, which is the same for all of its paths and changes if another file replaces it.
package struct FileIdentity: Hashable, Sendable {
    private let device: dev_t
    private let number: ino_t

    /// Creates the identity of the file at a path, following symbolic links. Returns `nil` if no file exists.
    package init?(_ path: String) {
        var information = stat()
        guard stat(path, &information) == 0 else { return nil }
        (device, number) = (information.st_dev, information.st_ino)
    }

    /// Returns whether two paths refer to the same existing file.
    package static func isSame(_ one: String, _ other: String) -> Bool {
        FileIdentity(one).map { $0 == FileIdentity(other) } ?? false
    }
}
