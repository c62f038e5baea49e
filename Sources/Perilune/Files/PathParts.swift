/// The folder and the last component of a path.
///
/// A replacement for Foundation's `NSString.deletingLastPathComponent`, which crashes for names of one letter.
package struct PathParts: Equatable {
    /// The folder without a trailing slash; empty if the path has no folder, and `/` for entries of the root folder.
    package let folder: String
    package let name: String

    package init(_ path: String) {
        let slash = UInt8(ascii: "/")
        var bytes = Array(path.utf8)
        while bytes.count > 1, bytes.last == slash { bytes.removeLast() }
        guard let last = bytes.lastIndex(of: slash) else {
            (folder, name) = ("", String(decoding: bytes, as: UTF8.self))
            return
        }
        folder = last == 0 ? "/" : String(decoding: bytes[..<last], as: UTF8.self)
        name = String(decoding: bytes[(last + 1)...], as: UTF8.self)
    }
}
