import ArgumentParser

/// The values of a statement's parameters.
struct ParameterOption: ParsableArguments {
    @Option(
        name: [.customShort("p"), .customLong("parameter")], parsing: .unconditionalSingleValue,
        help: ArgumentHelp("The value of a statement parameter; repeatable.", valueName: "name=value"),
        transform: QueryParameter.init)
    var parameters: [QueryParameter] = []
}
