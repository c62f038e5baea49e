import ArgumentParser

/// The option that controls paging of long output.
struct PagerOption: ParsableArguments {
    @Flag(help: "Do not send output to a pager on terminals; PAGER names it, less is used by default.")
    var noPager = false
}
