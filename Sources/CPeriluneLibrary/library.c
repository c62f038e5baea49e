/*
** The Lua modules that are shipped inside the binary. Written by scripts/embed.
*/
#include "perilune_library.h"

#include <stdlib.h>
#include <string.h>

#pragma clang diagnostic ignored "-Wc23-extensions" /* #embed, which clang has in all dialects */

typedef struct {
    const char *name;
    const char *source;
} module;

/* In the order of the names. */
static const module modules[] = {
    {"perilune", (const char[]){
#embed "../../lib/perilune/init.lua"
        , 0}},
    {"perilune.associations.association", (const char[]){
#embed "../../lib/perilune/associations/association.lua"
        , 0}},
    {"perilune.associations.conditions", (const char[]){
#embed "../../lib/perilune/associations/conditions.lua"
        , 0}},
    {"perilune.associations.creating", (const char[]){
#embed "../../lib/perilune/associations/creating.lua"
        , 0}},
    {"perilune.associations.fetching", (const char[]){
#embed "../../lib/perilune/associations/fetching.lua"
        , 0}},
    {"perilune.associations.keys", (const char[]){
#embed "../../lib/perilune/associations/keys.lua"
        , 0}},
    {"perilune.associations.links", (const char[]){
#embed "../../lib/perilune/associations/links.lua"
        , 0}},
    {"perilune.associations.nested", (const char[]){
#embed "../../lib/perilune/associations/nested.lua"
        , 0}},
    {"perilune.associations.nested_deletions", (const char[]){
#embed "../../lib/perilune/associations/nested_deletions.lua"
        , 0}},
    {"perilune.associations.parent_updates", (const char[]){
#embed "../../lib/perilune/associations/parent_updates.lua"
        , 0}},
    {"perilune.associations.records", (const char[]){
#embed "../../lib/perilune/associations/records.lua"
        , 0}},
    {"perilune.associations.swift_bridge", (const char[]){
#embed "../../lib/perilune/associations/swift_bridge.lua"
        , 0}},
    {"perilune.databases.backups", (const char[]){
#embed "../../lib/perilune/databases/backups.lua"
        , 0}},
    {"perilune.databases.changesets", (const char[]){
#embed "../../lib/perilune/databases/changesets.lua"
        , 0}},
    {"perilune.databases.clusters", (const char[]){
#embed "../../lib/perilune/databases/clusters.lua"
        , 0}},
    {"perilune.databases.foreign_names", (const char[]){
#embed "../../lib/perilune/databases/foreign_names.lua"
        , 0}},
    {"perilune.databases.open_blobs", (const char[]){
#embed "../../lib/perilune/databases/open_blobs.lua"
        , 0}},
    {"perilune.databases.snapshots", (const char[]){
#embed "../../lib/perilune/databases/snapshots.lua"
        , 0}},
    {"perilune.events.automation", (const char[]){
#embed "../../lib/perilune/events/automation.lua"
        , 0}},
    {"perilune.events.automation_files", (const char[]){
#embed "../../lib/perilune/events/automation_files.lua"
        , 0}},
    {"perilune.events.automation_output", (const char[]){
#embed "../../lib/perilune/events/automation_output.lua"
        , 0}},
    {"perilune.events.automation_runs", (const char[]){
#embed "../../lib/perilune/events/automation_runs.lua"
        , 0}},
    {"perilune.events.automation_schedules", (const char[]){
#embed "../../lib/perilune/events/automation_schedules.lua"
        , 0}},
    {"perilune.events.automation_status", (const char[]){
#embed "../../lib/perilune/events/automation_status.lua"
        , 0}},
    {"perilune.events.automation_times", (const char[]){
#embed "../../lib/perilune/events/automation_times.lua"
        , 0}},
    {"perilune.events.automation_triggers", (const char[]){
#embed "../../lib/perilune/events/automation_triggers.lua"
        , 0}},
    {"perilune.events.change_log", (const char[]){
#embed "../../lib/perilune/events/change_log.lua"
        , 0}},
    {"perilune.events.durable_queue", (const char[]){
#embed "../../lib/perilune/events/durable_queue.lua"
        , 0}},
    {"perilune.events.durable_runs", (const char[]){
#embed "../../lib/perilune/events/durable_runs.lua"
        , 0}},
    {"perilune.events.durable_values", (const char[]){
#embed "../../lib/perilune/events/durable_values.lua"
        , 0}},
    {"perilune.events.history", (const char[]){
#embed "../../lib/perilune/events/history.lua"
        , 0}},
    {"perilune.events.history_notes", (const char[]){
#embed "../../lib/perilune/events/history_notes.lua"
        , 0}},
    {"perilune.events.history_reading", (const char[]){
#embed "../../lib/perilune/events/history_reading.lua"
        , 0}},
    {"perilune.events.history_undoing", (const char[]){
#embed "../../lib/perilune/events/history_undoing.lua"
        , 0}},
    {"perilune.events.job_bridge", (const char[]){
#embed "../../lib/perilune/events/job_bridge.lua"
        , 0}},
    {"perilune.events.job_table", (const char[]){
#embed "../../lib/perilune/events/job_table.lua"
        , 0}},
    {"perilune.events.job_workers", (const char[]){
#embed "../../lib/perilune/events/job_workers.lua"
        , 0}},
    {"perilune.events.jobs", (const char[]){
#embed "../../lib/perilune/events/jobs.lua"
        , 0}},
    {"perilune.events.loop", (const char[]){
#embed "../../lib/perilune/events/loop.lua"
        , 0}},
    {"perilune.events.once", (const char[]){
#embed "../../lib/perilune/events/once.lua"
        , 0}},
    {"perilune.events.owner_leases", (const char[]){
#embed "../../lib/perilune/events/owner_leases.lua"
        , 0}},
    {"perilune.events.schedule", (const char[]){
#embed "../../lib/perilune/events/schedule.lua"
        , 0}},
    {"perilune.events.spawning", (const char[]){
#embed "../../lib/perilune/events/spawning.lua"
        , 0}},
    {"perilune.events.step_table", (const char[]){
#embed "../../lib/perilune/events/step_table.lua"
        , 0}},
    {"perilune.events.transaction_observers", (const char[]){
#embed "../../lib/perilune/events/transaction_observers.lua"
        , 0}},
    {"perilune.events.value_observation", (const char[]){
#embed "../../lib/perilune/events/value_observation.lua"
        , 0}},
    {"perilune.events.wake", (const char[]){
#embed "../../lib/perilune/events/wake.lua"
        , 0}},
    {"perilune.events.write_options", (const char[]){
#embed "../../lib/perilune/events/write_options.lua"
        , 0}},
    {"perilune.expressions.constructors", (const char[]){
#embed "../../lib/perilune/expressions/constructors.lua"
        , 0}},
    {"perilune.expressions.expression", (const char[]){
#embed "../../lib/perilune/expressions/expression.lua"
        , 0}},
    {"perilune.expressions.functions", (const char[]){
#embed "../../lib/perilune/expressions/functions.lua"
        , 0}},
    {"perilune.expressions.interning", (const char[]){
#embed "../../lib/perilune/expressions/interning.lua"
        , 0}},
    {"perilune.expressions.methods", (const char[]){
#embed "../../lib/perilune/expressions/methods.lua"
        , 0}},
    {"perilune.expressions.operators", (const char[]){
#embed "../../lib/perilune/expressions/operators.lua"
        , 0}},
    {"perilune.expressions.parameters", (const char[]){
#embed "../../lib/perilune/expressions/parameters.lua"
        , 0}},
    {"perilune.expressions.shapes", (const char[]){
#embed "../../lib/perilune/expressions/shapes.lua"
        , 0}},
    {"perilune.expressions.subquery", (const char[]){
#embed "../../lib/perilune/expressions/subquery.lua"
        , 0}},
    {"perilune.expressions.swift_bridge", (const char[]){
#embed "../../lib/perilune/expressions/swift_bridge.lua"
        , 0}},
    {"perilune.expressions.windows", (const char[]){
#embed "../../lib/perilune/expressions/windows.lua"
        , 0}},
    {"perilune.migrations.folder", (const char[]){
#embed "../../lib/perilune/migrations/folder.lua"
        , 0}},
    {"perilune.migrations.migrator", (const char[]){
#embed "../../lib/perilune/migrations/migrator.lua"
        , 0}},
    {"perilune.migrations.undoing", (const char[]){
#embed "../../lib/perilune/migrations/undoing.lua"
        , 0}},
    {"perilune.record_classes", (const char[]){
#embed "../../lib/perilune/record_classes.lua"
        , 0}},
    {"perilune.records.behaviours", (const char[]){
#embed "../../lib/perilune/records/behaviours.lua"
        , 0}},
    {"perilune.records.bulk_upsert", (const char[]){
#embed "../../lib/perilune/records/bulk_upsert.lua"
        , 0}},
    {"perilune.records.changes", (const char[]){
#embed "../../lib/perilune/records/changes.lua"
        , 0}},
    {"perilune.records.class", (const char[]){
#embed "../../lib/perilune/records/class.lua"
        , 0}},
    {"perilune.records.column_types", (const char[]){
#embed "../../lib/perilune/records/column_types.lua"
        , 0}},
    {"perilune.records.columns", (const char[]){
#embed "../../lib/perilune/records/columns.lua"
        , 0}},
    {"perilune.records.description", (const char[]){
#embed "../../lib/perilune/records/description.lua"
        , 0}},
    {"perilune.records.drafts", (const char[]){
#embed "../../lib/perilune/records/drafts.lua"
        , 0}},
    {"perilune.records.errors", (const char[]){
#embed "../../lib/perilune/records/errors.lua"
        , 0}},
    {"perilune.records.failures", (const char[]){
#embed "../../lib/perilune/records/failures.lua"
        , 0}},
    {"perilune.records.fetching", (const char[]){
#embed "../../lib/perilune/records/fetching.lua"
        , 0}},
    {"perilune.records.fields", (const char[]){
#embed "../../lib/perilune/records/fields.lua"
        , 0}},
    {"perilune.records.hooks", (const char[]){
#embed "../../lib/perilune/records/hooks.lua"
        , 0}},
    {"perilune.records.info", (const char[]){
#embed "../../lib/perilune/records/info.lua"
        , 0}},
    {"perilune.records.keys", (const char[]){
#embed "../../lib/perilune/records/keys.lua"
        , 0}},
    {"perilune.records.native_callbacks", (const char[]){
#embed "../../lib/perilune/records/native_callbacks.lua"
        , 0}},
    {"perilune.records.options", (const char[]){
#embed "../../lib/perilune/records/options.lua"
        , 0}},
    {"perilune.records.persistence", (const char[]){
#embed "../../lib/perilune/records/persistence.lua"
        , 0}},
    {"perilune.records.records", (const char[]){
#embed "../../lib/perilune/records/records.lua"
        , 0}},
    {"perilune.records.rows_in_the_way", (const char[]){
#embed "../../lib/perilune/records/rows_in_the_way.lua"
        , 0}},
    {"perilune.records.single_row", (const char[]){
#embed "../../lib/perilune/records/single_row.lua"
        , 0}},
    {"perilune.records.sql", (const char[]){
#embed "../../lib/perilune/records/sql.lua"
        , 0}},
    {"perilune.records.statements", (const char[]){
#embed "../../lib/perilune/records/statements.lua"
        , 0}},
    {"perilune.records.steps", (const char[]){
#embed "../../lib/perilune/records/steps.lua"
        , 0}},
    {"perilune.records.types", (const char[]){
#embed "../../lib/perilune/records/types.lua"
        , 0}},
    {"perilune.records.unresolved_table", (const char[]){
#embed "../../lib/perilune/records/unresolved_table.lua"
        , 0}},
    {"perilune.records.update_changes", (const char[]){
#embed "../../lib/perilune/records/update_changes.lua"
        , 0}},
    {"perilune.records.upsert", (const char[]){
#embed "../../lib/perilune/records/upsert.lua"
        , 0}},
    {"perilune.records.upsert_rules", (const char[]){
#embed "../../lib/perilune/records/upsert_rules.lua"
        , 0}},
    {"perilune.records.upsert_sql", (const char[]){
#embed "../../lib/perilune/records/upsert_sql.lua"
        , 0}},
    {"perilune.records.validation", (const char[]){
#embed "../../lib/perilune/records/validation.lua"
        , 0}},
    {"perilune.records.values", (const char[]){
#embed "../../lib/perilune/records/values.lua"
        , 0}},
    {"perilune.records.writing", (const char[]){
#embed "../../lib/perilune/records/writing.lua"
        , 0}},
    {"perilune.request_methods", (const char[]){
#embed "../../lib/perilune/request_methods.lua"
        , 0}},
    {"perilune.requests.batches", (const char[]){
#embed "../../lib/perilune/requests/batches.lua"
        , 0}},
    {"perilune.requests.changes", (const char[]){
#embed "../../lib/perilune/requests/changes.lua"
        , 0}},
    {"perilune.requests.class", (const char[]){
#embed "../../lib/perilune/requests/class.lua"
        , 0}},
    {"perilune.requests.classes", (const char[]){
#embed "../../lib/perilune/requests/classes.lua"
        , 0}},
    {"perilune.requests.common_table", (const char[]){
#embed "../../lib/perilune/requests/common_table.lua"
        , 0}},
    {"perilune.requests.conditions", (const char[]){
#embed "../../lib/perilune/requests/conditions.lua"
        , 0}},
    {"perilune.requests.either", (const char[]){
#embed "../../lib/perilune/requests/either.lua"
        , 0}},
    {"perilune.requests.fetching", (const char[]){
#embed "../../lib/perilune/requests/fetching.lua"
        , 0}},
    {"perilune.requests.inserting", (const char[]){
#embed "../../lib/perilune/requests/inserting.lua"
        , 0}},
    {"perilune.requests.joins", (const char[]){
#embed "../../lib/perilune/requests/joins.lua"
        , 0}},
    {"perilune.requests.keyset_pages", (const char[]){
#embed "../../lib/perilune/requests/keyset_pages.lua"
        , 0}},
    {"perilune.requests.named_expressions", (const char[]){
#embed "../../lib/perilune/requests/named_expressions.lua"
        , 0}},
    {"perilune.requests.nearest", (const char[]){
#embed "../../lib/perilune/requests/nearest.lua"
        , 0}},
    {"perilune.requests.nodes", (const char[]){
#embed "../../lib/perilune/requests/nodes.lua"
        , 0}},
    {"perilune.requests.page_cursors", (const char[]){
#embed "../../lib/perilune/requests/page_cursors.lua"
        , 0}},
    {"perilune.requests.page_orders", (const char[]){
#embed "../../lib/perilune/requests/page_orders.lua"
        , 0}},
    {"perilune.requests.page_searches", (const char[]){
#embed "../../lib/perilune/requests/page_searches.lua"
        , 0}},
    {"perilune.requests.pageable", (const char[]){
#embed "../../lib/perilune/requests/pageable.lua"
        , 0}},
    {"perilune.requests.plans", (const char[]){
#embed "../../lib/perilune/requests/plans.lua"
        , 0}},
    {"perilune.requests.prepared", (const char[]){
#embed "../../lib/perilune/requests/prepared.lua"
        , 0}},
    {"perilune.requests.record_classes", (const char[]){
#embed "../../lib/perilune/requests/record_classes.lua"
        , 0}},
    {"perilune.requests.request", (const char[]){
#embed "../../lib/perilune/requests/request.lua"
        , 0}},
    {"perilune.requests.results", (const char[]){
#embed "../../lib/perilune/requests/results.lua"
        , 0}},
    {"perilune.requests.source", (const char[]){
#embed "../../lib/perilune/requests/source.lua"
        , 0}},
    {"perilune.requests.swift_bridge", (const char[]){
#embed "../../lib/perilune/requests/swift_bridge.lua"
        , 0}},
    {"perilune.require", (const char[]){
#embed "../../lib/perilune/require.lua"
        , 0}},
    {"perilune.runtime.arity", (const char[]){
#embed "../../lib/perilune/runtime/arity.lua"
        , 0}},
    {"perilune.runtime.checks", (const char[]){
#embed "../../lib/perilune/runtime/checks.lua"
        , 0}},
    {"perilune.runtime.collations", (const char[]){
#embed "../../lib/perilune/runtime/collations.lua"
        , 0}},
    {"perilune.runtime.durations", (const char[]){
#embed "../../lib/perilune/runtime/durations.lua"
        , 0}},
    {"perilune.runtime.enum", (const char[]){
#embed "../../lib/perilune/runtime/enum.lua"
        , 0}},
    {"perilune.runtime.functions", (const char[]){
#embed "../../lib/perilune/runtime/functions.lua"
        , 0}},
    {"perilune.runtime.json", (const char[]){
#embed "../../lib/perilune/runtime/json.lua"
        , 0}},
    {"perilune.runtime.loading", (const char[]){
#embed "../../lib/perilune/runtime/loading.lua"
        , 0}},
    {"perilune.runtime.marks", (const char[]){
#embed "../../lib/perilune/runtime/marks.lua"
        , 0}},
    {"perilune.runtime.names", (const char[]){
#embed "../../lib/perilune/runtime/names.lua"
        , 0}},
    {"perilune.runtime.preview", (const char[]){
#embed "../../lib/perilune/runtime/preview.lua"
        , 0}},
    {"perilune.runtime.receivers", (const char[]){
#embed "../../lib/perilune/runtime/receivers.lua"
        , 0}},
    {"perilune.runtime.row", (const char[]){
#embed "../../lib/perilune/runtime/row.lua"
        , 0}},
    {"perilune.runtime.row_type", (const char[]){
#embed "../../lib/perilune/runtime/row_type.lua"
        , 0}},
    {"perilune.runtime.scoped_dependencies", (const char[]){
#embed "../../lib/perilune/runtime/scoped_dependencies.lua"
        , 0}},
    {"perilune.runtime.sql_fragment", (const char[]){
#embed "../../lib/perilune/runtime/sql_fragment.lua"
        , 0}},
    {"perilune.runtime.sql_text", (const char[]){
#embed "../../lib/perilune/runtime/sql_text.lua"
        , 0}},
    {"perilune.runtime.stored_values", (const char[]){
#embed "../../lib/perilune/runtime/stored_values.lua"
        , 0}},
    {"perilune.runtime.types", (const char[]){
#embed "../../lib/perilune/runtime/types.lua"
        , 0}},
    {"perilune.runtime.unknown_methods", (const char[]){
#embed "../../lib/perilune/runtime/unknown_methods.lua"
        , 0}},
    {"perilune.runtime.vectors", (const char[]){
#embed "../../lib/perilune/runtime/vectors.lua"
        , 0}},
    {"perilune.schema.belongs_to", (const char[]){
#embed "../../lib/perilune/schema/belongs_to.lua"
        , 0}},
    {"perilune.schema.changes", (const char[]){
#embed "../../lib/perilune/schema/changes.lua"
        , 0}},
    {"perilune.schema.column_change", (const char[]){
#embed "../../lib/perilune/schema/column_change.lua"
        , 0}},
    {"perilune.schema.column_definition", (const char[]){
#embed "../../lib/perilune/schema/column_definition.lua"
        , 0}},
    {"perilune.schema.declared_types", (const char[]){
#embed "../../lib/perilune/schema/declared_types.lua"
        , 0}},
    {"perilune.schema.foreign_key_checks", (const char[]){
#embed "../../lib/perilune/schema/foreign_key_checks.lua"
        , 0}},
    {"perilune.schema.full_text", (const char[]){
#embed "../../lib/perilune/schema/full_text.lua"
        , 0}},
    {"perilune.schema.full_text_pattern", (const char[]){
#embed "../../lib/perilune/schema/full_text_pattern.lua"
        , 0}},
    {"perilune.schema.full_text_synchronization", (const char[]){
#embed "../../lib/perilune/schema/full_text_synchronization.lua"
        , 0}},
    {"perilune.schema.full_text_tokenizers", (const char[]){
#embed "../../lib/perilune/schema/full_text_tokenizers.lua"
        , 0}},
    {"perilune.schema.history_keeping", (const char[]){
#embed "../../lib/perilune/schema/history_keeping.lua"
        , 0}},
    {"perilune.schema.history_tables", (const char[]){
#embed "../../lib/perilune/schema/history_tables.lua"
        , 0}},
    {"perilune.schema.history_versions", (const char[]){
#embed "../../lib/perilune/schema/history_versions.lua"
        , 0}},
    {"perilune.schema.index_text", (const char[]){
#embed "../../lib/perilune/schema/index_text.lua"
        , 0}},
    {"perilune.schema.indexes", (const char[]){
#embed "../../lib/perilune/schema/indexes.lua"
        , 0}},
    {"perilune.schema.introspection", (const char[]){
#embed "../../lib/perilune/schema/introspection.lua"
        , 0}},
    {"perilune.schema.table_alteration", (const char[]){
#embed "../../lib/perilune/schema/table_alteration.lua"
        , 0}},
    {"perilune.schema.table_creation", (const char[]){
#embed "../../lib/perilune/schema/table_creation.lua"
        , 0}},
    {"perilune.schema.table_definition", (const char[]){
#embed "../../lib/perilune/schema/table_definition.lua"
        , 0}},
    {"perilune.schema.table_rebuild", (const char[]){
#embed "../../lib/perilune/schema/table_rebuild.lua"
        , 0}},
    {"perilune.schema.table_reference", (const char[]){
#embed "../../lib/perilune/schema/table_reference.lua"
        , 0}},
    {"perilune.schema.table_text", (const char[]){
#embed "../../lib/perilune/schema/table_text.lua"
        , 0}},
    {"perilune.schema.trigger_creation", (const char[]){
#embed "../../lib/perilune/schema/trigger_creation.lua"
        , 0}},
    {"perilune.schema.view_creation", (const char[]){
#embed "../../lib/perilune/schema/view_creation.lua"
        , 0}},
};

static int compare(const void *name, const void *entry) {
    return strcmp(name, ((const module *)entry)->name);
}

const char *perilune_library_source(const char *name) {
    const module *found = bsearch(name, modules, sizeof modules / sizeof *modules, sizeof *modules, compare);
    return found != NULL ? found->source : NULL;
}
