import ArgumentParser

/// Whether long output goes through a pager.
struct PagerOption: ParsableArguments {
    @Flag(help: "Do not send output to a pager on terminals; PAGER names it, less is used by default.")
    var noPager = false

    /// Runs a closure whose output goes through the pager.
    ///
    /// - Parameter isFile: Whether the output goes to a file.
    func paging<Result>(isFile: Bool = false, _ body: () throws -> Result) rethrows -> Result {
        try Pager.paging(if: !noPager && !isFile, body)
    }
}
