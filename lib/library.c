/*
** The Lua modules that are shipped inside the binary. A new one needs a line here, in the order of the names.
*/
#include "perilune_library.h"

#include <string.h>

#pragma clang diagnostic ignored "-Wc23-extensions" /* #embed, which clang has in all dialects */

typedef struct {
    const char *name;
    const char *source;
} module;

static const module modules[] = {
    {"association", (const char[]){
#embed "perilune/association.lua"
        , 0}},
    {"association_building", (const char[]){
#embed "perilune/association_building.lua"
        , 0}},
    {"association_fetching", (const char[]){
#embed "perilune/association_fetching.lua"
        , 0}},
    {"association_keys", (const char[]){
#embed "perilune/association_keys.lua"
        , 0}},
    {"association_links", (const char[]){
#embed "perilune/association_links.lua"
        , 0}},
    {"association_records", (const char[]){
#embed "perilune/association_records.lua"
        , 0}},
    {"automation", (const char[]){
#embed "perilune/automation.lua"
        , 0}},
    {"automation_files", (const char[]){
#embed "perilune/automation_files.lua"
        , 0}},
    {"automation_runs", (const char[]){
#embed "perilune/automation_runs.lua"
        , 0}},
    {"automation_triggers", (const char[]){
#embed "perilune/automation_triggers.lua"
        , 0}},
    {"belonging", (const char[]){
#embed "perilune/belonging.lua"
        , 0}},
    {"collations", (const char[]){
#embed "perilune/collations.lua"
        , 0}},
    {"column_definition", (const char[]){
#embed "perilune/column_definition.lua"
        , 0}},
    {"column_types", (const char[]){
#embed "perilune/column_types.lua"
        , 0}},
    {"common_table", (const char[]){
#embed "perilune/common_table.lua"
        , 0}},
    {"declared_types", (const char[]){
#embed "perilune/declared_types.lua"
        , 0}},
    {"definition_checks", (const char[]){
#embed "perilune/definition_checks.lua"
        , 0}},
    {"draft", (const char[]){
#embed "perilune/draft.lua"
        , 0}},
    {"durations", (const char[]){
#embed "perilune/durations.lua"
        , 0}},
    {"enum", (const char[]){
#embed "perilune/enum.lua"
        , 0}},
    {"expression", (const char[]){
#embed "perilune/expression.lua"
        , 0}},
    {"expression_building", (const char[]){
#embed "perilune/expression_building.lua"
        , 0}},
    {"expression_functions", (const char[]){
#embed "perilune/expression_functions.lua"
        , 0}},
    {"expression_making", (const char[]){
#embed "perilune/expression_making.lua"
        , 0}},
    {"expression_methods", (const char[]){
#embed "perilune/expression_methods.lua"
        , 0}},
    {"expression_operators", (const char[]){
#embed "perilune/expression_operators.lua"
        , 0}},
    {"expression_shapes", (const char[]){
#embed "perilune/expression_shapes.lua"
        , 0}},
    {"full_text", (const char[]){
#embed "perilune/full_text.lua"
        , 0}},
    {"full_text_pattern", (const char[]){
#embed "perilune/full_text_pattern.lua"
        , 0}},
    {"full_text_synchronization", (const char[]){
#embed "perilune/full_text_synchronization.lua"
        , 0}},
    {"full_text_tokenizers", (const char[]){
#embed "perilune/full_text_tokenizers.lua"
        , 0}},
    {"functions", (const char[]){
#embed "perilune/functions.lua"
        , 0}},
    {"index_text", (const char[]){
#embed "perilune/index_text.lua"
        , 0}},
    {"indexes", (const char[]){
#embed "perilune/indexes.lua"
        , 0}},
    {"init", (const char[]){
#embed "perilune/init.lua"
        , 0}},
    {"json", (const char[]){
#embed "perilune/json.lua"
        , 0}},
    {"loop", (const char[]){
#embed "perilune/loop.lua"
        , 0}},
    {"migration_folder", (const char[]){
#embed "perilune/migration_folder.lua"
        , 0}},
    {"migration_undoing", (const char[]){
#embed "perilune/migration_undoing.lua"
        , 0}},
    {"migrator", (const char[]){
#embed "perilune/migrator.lua"
        , 0}},
    {"overrides", (const char[]){
#embed "perilune/overrides.lua"
        , 0}},
    {"preview", (const char[]){
#embed "perilune/preview.lua"
        , 0}},
    {"record", (const char[]){
#embed "perilune/record.lua"
        , 0}},
    {"record_changes", (const char[]){
#embed "perilune/record_changes.lua"
        , 0}},
    {"record_columns", (const char[]){
#embed "perilune/record_columns.lua"
        , 0}},
    {"record_description", (const char[]){
#embed "perilune/record_description.lua"
        , 0}},
    {"record_errors", (const char[]){
#embed "perilune/record_errors.lua"
        , 0}},
    {"record_failures", (const char[]){
#embed "perilune/record_failures.lua"
        , 0}},
    {"record_fetching", (const char[]){
#embed "perilune/record_fetching.lua"
        , 0}},
    {"record_hooks", (const char[]){
#embed "perilune/record_hooks.lua"
        , 0}},
    {"record_info", (const char[]){
#embed "perilune/record_info.lua"
        , 0}},
    {"record_options", (const char[]){
#embed "perilune/record_options.lua"
        , 0}},
    {"record_persistence", (const char[]){
#embed "perilune/record_persistence.lua"
        , 0}},
    {"record_requests", (const char[]){
#embed "perilune/record_requests.lua"
        , 0}},
    {"record_sql", (const char[]){
#embed "perilune/record_sql.lua"
        , 0}},
    {"record_statements", (const char[]){
#embed "perilune/record_statements.lua"
        , 0}},
    {"record_steps", (const char[]){
#embed "perilune/record_steps.lua"
        , 0}},
    {"record_types", (const char[]){
#embed "perilune/record_types.lua"
        , 0}},
    {"record_unbound", (const char[]){
#embed "perilune/record_unbound.lua"
        , 0}},
    {"record_upsert", (const char[]){
#embed "perilune/record_upsert.lua"
        , 0}},
    {"record_validation", (const char[]){
#embed "perilune/record_validation.lua"
        , 0}},
    {"record_values", (const char[]){
#embed "perilune/record_values.lua"
        , 0}},
    {"record_writing", (const char[]){
#embed "perilune/record_writing.lua"
        , 0}},
    {"request", (const char[]){
#embed "perilune/request.lua"
        , 0}},
    {"request_building", (const char[]){
#embed "perilune/request_building.lua"
        , 0}},
    {"request_changes", (const char[]){
#embed "perilune/request_changes.lua"
        , 0}},
    {"request_class", (const char[]){
#embed "perilune/request_class.lua"
        , 0}},
    {"request_conditions", (const char[]){
#embed "perilune/request_conditions.lua"
        , 0}},
    {"request_fetching", (const char[]){
#embed "perilune/request_fetching.lua"
        , 0}},
    {"request_nodes", (const char[]){
#embed "perilune/request_nodes.lua"
        , 0}},
    {"request_plans", (const char[]){
#embed "perilune/request_plans.lua"
        , 0}},
    {"request_prepared", (const char[]){
#embed "perilune/request_prepared.lua"
        , 0}},
    {"request_results", (const char[]){
#embed "perilune/request_results.lua"
        , 0}},
    {"request_source", (const char[]){
#embed "perilune/request_source.lua"
        , 0}},
    {"row", (const char[]){
#embed "perilune/row.lua"
        , 0}},
    {"row_type", (const char[]){
#embed "perilune/row_type.lua"
        , 0}},
    {"scenario_annotations", (const char[]){
#embed "perilune/scenario_annotations.lua"
        , 0}},
    {"scenario_cases", (const char[]){
#embed "perilune/scenario_cases.lua"
        , 0}},
    {"scenario_cells", (const char[]){
#embed "perilune/scenario_cells.lua"
        , 0}},
    {"scenario_changes", (const char[]){
#embed "perilune/scenario_changes.lua"
        , 0}},
    {"scenario_check", (const char[]){
#embed "perilune/scenario_check.lua"
        , 0}},
    {"scenario_clock", (const char[]){
#embed "perilune/scenario_clock.lua"
        , 0}},
    {"scenario_context", (const char[]){
#embed "perilune/scenario_context.lua"
        , 0}},
    {"scenario_database", (const char[]){
#embed "perilune/scenario_database.lua"
        , 0}},
    {"scenario_definitions", (const char[]){
#embed "perilune/scenario_definitions.lua"
        , 0}},
    {"scenario_differences", (const char[]){
#embed "perilune/scenario_differences.lua"
        , 0}},
    {"scenario_display", (const char[]){
#embed "perilune/scenario_display.lua"
        , 0}},
    {"scenario_effects", (const char[]){
#embed "perilune/scenario_effects.lua"
        , 0}},
    {"scenario_expect", (const char[]){
#embed "perilune/scenario_expect.lua"
        , 0}},
    {"scenario_expect_error", (const char[]){
#embed "perilune/scenario_expect_error.lua"
        , 0}},
    {"scenario_factories", (const char[]){
#embed "perilune/scenario_factories.lua"
        , 0}},
    {"scenario_failures", (const char[]){
#embed "perilune/scenario_failures.lua"
        , 0}},
    {"scenario_given", (const char[]){
#embed "perilune/scenario_given.lua"
        , 0}},
    {"scenario_matchers", (const char[]){
#embed "perilune/scenario_matchers.lua"
        , 0}},
    {"scenario_options", (const char[]){
#embed "perilune/scenario_options.lua"
        , 0}},
    {"scenario_queries", (const char[]){
#embed "perilune/scenario_queries.lua"
        , 0}},
    {"scenario_rewriting", (const char[]){
#embed "perilune/scenario_rewriting.lua"
        , 0}},
    {"scenario_row_matching", (const char[]){
#embed "perilune/scenario_row_matching.lua"
        , 0}},
    {"scenario_row_source", (const char[]){
#embed "perilune/scenario_row_source.lua"
        , 0}},
    {"scenario_rows", (const char[]){
#embed "perilune/scenario_rows.lua"
        , 0}},
    {"scenario_running", (const char[]){
#embed "perilune/scenario_running.lua"
        , 0}},
    {"scenario_snapshots", (const char[]){
#embed "perilune/scenario_snapshots.lua"
        , 0}},
    {"scenario_source", (const char[]){
#embed "perilune/scenario_source.lua"
        , 0}},
    {"scenario_state", (const char[]){
#embed "perilune/scenario_state.lua"
        , 0}},
    {"scenario_steps", (const char[]){
#embed "perilune/scenario_steps.lua"
        , 0}},
    {"scenario_text_difference", (const char[]){
#embed "perilune/scenario_text_difference.lua"
        , 0}},
    {"scenario_text_table", (const char[]){
#embed "perilune/scenario_text_table.lua"
        , 0}},
    {"scenario_tokens", (const char[]){
#embed "perilune/scenario_tokens.lua"
        , 0}},
    {"scenario_types", (const char[]){
#embed "perilune/scenario_types.lua"
        , 0}},
    {"scenarios", (const char[]){
#embed "perilune/scenarios.lua"
        , 0}},
    {"schedule", (const char[]){
#embed "perilune/schedule.lua"
        , 0}},
    {"schema", (const char[]){
#embed "perilune/schema.lua"
        , 0}},
    {"schema_changes", (const char[]){
#embed "perilune/schema_changes.lua"
        , 0}},
    {"single_row", (const char[]){
#embed "perilune/single_row.lua"
        , 0}},
    {"sql_fragment", (const char[]){
#embed "perilune/sql_fragment.lua"
        , 0}},
    {"sql_text", (const char[]){
#embed "perilune/sql_text.lua"
        , 0}},
    {"stored_values", (const char[]){
#embed "perilune/stored_values.lua"
        , 0}},
    {"subquery", (const char[]){
#embed "perilune/subquery.lua"
        , 0}},
    {"table_alteration", (const char[]){
#embed "perilune/table_alteration.lua"
        , 0}},
    {"table_creation", (const char[]){
#embed "perilune/table_creation.lua"
        , 0}},
    {"table_definition", (const char[]){
#embed "perilune/table_definition.lua"
        , 0}},
    {"table_reference", (const char[]){
#embed "perilune/table_reference.lua"
        , 0}},
    {"transaction_observers", (const char[]){
#embed "perilune/transaction_observers.lua"
        , 0}},
    {"types", (const char[]){
#embed "perilune/types.lua"
        , 0}},
    {"update_changes", (const char[]){
#embed "perilune/update_changes.lua"
        , 0}},
    {"upsert_sql", (const char[]){
#embed "perilune/upsert_sql.lua"
        , 0}},
    {"value_observation", (const char[]){
#embed "perilune/value_observation.lua"
        , 0}},
    {"view_creation", (const char[]){
#embed "perilune/view_creation.lua"
        , 0}},
};

const char *perilune_module_source(const char *name) {
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++) {
        if (strcmp(modules[i].name, name) == 0) return modules[i].source;
    }
    return NULL;
}
