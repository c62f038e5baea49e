/// The source text of the Lua modules that are shipped inside the binary.
package enum PeriluneModules {
    package static let types = text(PackageResources.types_lua)
    package static let `enum` = text(PackageResources.enum_lua)
    package static let row = text(PackageResources.row_lua)
    package static let functions = text(PackageResources.functions_lua)
    package static let schema = text(PackageResources.schema_lua)

    private static func text(_ bytes: [UInt8]) -> String {
        String(decoding: bytes, as: UTF8.self)
    }
}
