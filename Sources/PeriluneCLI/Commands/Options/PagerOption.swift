import ArgumentParser

/// Whether long output goes through a pager.
struct PagerOption: ParsableArguments {
    @Flag(help: "Do not send output to a pager on terminals; PAGER names it, less is used by default.")
    var noPager = false
}
