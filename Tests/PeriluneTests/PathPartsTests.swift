import Testing

@testable import Perilune

struct PathPartsTests {
    @Test(arguments: [
        ("a", "", "a"), ("a.sqlite", "", "a.sqlite"), ("./a", ".", "a"), ("a/b/c", "a/b", "c"), ("/a", "/", "a"),
        ("/a/b/", "/a", "b"),
        ("a/", "", "a"), (".", "", "."), ("/", "/", ""), ("", "", ""), ("a/\u{301}", "a", "\u{301}"),
    ]) func `a path is split into a folder and a name`(path: String, folder: String, name: String) {
        let parts = PathParts(path)
        #expect(parts.folder == folder && parts.name == name)
    }
}
