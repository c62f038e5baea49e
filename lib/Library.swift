#if DEBUG
    internal import Foundation
#endif

/// The Lua modules that are shipped inside the binary.
package enum PeriluneModules {
    /// The source text of a module, or `nil` if there is none of that name.
    ///
    /// In debug builds the environment variable `PERILUNE_LIBRARY` may name the folder that the modules are read from instead,
    /// so that whoever works on them need not build.
    package static func source(of name: String) -> String? {
        #if DEBUG
            if let folder = ProcessInfo.processInfo.environment["PERILUNE_LIBRARY"] {
                return try? String(contentsOfFile: "\(folder)/\(name).lua", encoding: .utf8)
            }
        #endif
        return shipped[name].map { String(decoding: $0(), as: UTF8.self) }
    }

    private static let shipped: [String: @Sendable () -> [UInt8]] = [
        "association": { PackageResources.association_lua },
        "association_building": { PackageResources.association_building_lua },
        "association_fetching": { PackageResources.association_fetching_lua },
        "association_links": { PackageResources.association_links_lua },
        "association_records": { PackageResources.association_records_lua },
        "belonging": { PackageResources.belonging_lua },
        "column_definition": { PackageResources.column_definition_lua },
        "column_types": { PackageResources.column_types_lua },
        "common_table": { PackageResources.common_table_lua },
        "declared_types": { PackageResources.declared_types_lua },
        "definition_checks": { PackageResources.definition_checks_lua },
        "draft": { PackageResources.draft_lua },
        "enum": { PackageResources.enum_lua },
        "expression": { PackageResources.expression_lua },
        "expression_building": { PackageResources.expression_building_lua },
        "full_text": { PackageResources.full_text_lua },
        "full_text_pattern": { PackageResources.full_text_pattern_lua },
        "full_text_synchronization": { PackageResources.full_text_synchronization_lua },
        "full_text_tokenizers": { PackageResources.full_text_tokenizers_lua },
        "functions": { PackageResources.functions_lua },
        "index_text": { PackageResources.index_text_lua },
        "indexes": { PackageResources.indexes_lua },
        "init": { PackageResources.init_lua },
        "json": { PackageResources.json_lua },
        "migration_folder": { PackageResources.migration_folder_lua },
        "migrator": { PackageResources.migrator_lua },
        "preview": { PackageResources.preview_lua },
        "record": { PackageResources.record_lua },
        "record_changes": { PackageResources.record_changes_lua },
        "record_errors": { PackageResources.record_errors_lua },
        "record_fetching": { PackageResources.record_fetching_lua },
        "record_hooks": { PackageResources.record_hooks_lua },
        "record_info": { PackageResources.record_info_lua },
        "record_options": { PackageResources.record_options_lua },
        "record_persistence": { PackageResources.record_persistence_lua },
        "record_requests": { PackageResources.record_requests_lua },
        "record_steps": { PackageResources.record_steps_lua },
        "record_types": { PackageResources.record_types_lua },
        "record_upsert": { PackageResources.record_upsert_lua },
        "record_validation": { PackageResources.record_validation_lua },
        "record_values": { PackageResources.record_values_lua },
        "record_writing": { PackageResources.record_writing_lua },
        "request": { PackageResources.request_lua },
        "request_building": { PackageResources.request_building_lua },
        "request_changes": { PackageResources.request_changes_lua },
        "request_class": { PackageResources.request_class_lua },
        "request_conditions": { PackageResources.request_conditions_lua },
        "request_fetching": { PackageResources.request_fetching_lua },
        "request_plans": { PackageResources.request_plans_lua },
        "request_prepared": { PackageResources.request_prepared_lua },
        "request_results": { PackageResources.request_results_lua },
        "request_source": { PackageResources.request_source_lua },
        "row": { PackageResources.row_lua },
        "row_type": { PackageResources.row_type_lua },
        "schema": { PackageResources.schema_lua },
        "schema_changes": { PackageResources.schema_changes_lua },
        "single_row": { PackageResources.single_row_lua },
        "sql_fragment": { PackageResources.sql_fragment_lua },
        "sql_text": { PackageResources.sql_text_lua },
        "stored_values": { PackageResources.stored_values_lua },
        "subquery": { PackageResources.subquery_lua },
        "table_alteration": { PackageResources.table_alteration_lua },
        "table_creation": { PackageResources.table_creation_lua },
        "table_definition": { PackageResources.table_definition_lua },
        "table_reference": { PackageResources.table_reference_lua },
        "types": { PackageResources.types_lua },
        "update_changes": { PackageResources.update_changes_lua },
        "upsert_sql": { PackageResources.upsert_sql_lua },
        "view_creation": { PackageResources.view_creation_lua },
    ]
}
