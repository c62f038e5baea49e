/*
** The Lua modules that are shipped inside the binary. Written by scripts/embed.
*/
#include "perilune_scenario_library.h"

#include <stdlib.h>
#include <string.h>

#pragma clang diagnostic ignored "-Wc23-extensions" /* #embed, which clang has in all dialects */

typedef struct {
    const char *name;
    const char *source;
} module;

/* In the order of the names. */
static const module modules[] = {
    {"scenarios", (const char[]){
#embed "../../lib/scenarios/init.lua"
        , 0}},
    {"scenarios.cases", (const char[]){
#embed "../../lib/scenarios/cases.lua"
        , 0}},
    {"scenarios.cells", (const char[]){
#embed "../../lib/scenarios/cells.lua"
        , 0}},
    {"scenarios.changes", (const char[]){
#embed "../../lib/scenarios/changes.lua"
        , 0}},
    {"scenarios.check", (const char[]){
#embed "../../lib/scenarios/check.lua"
        , 0}},
    {"scenarios.clock", (const char[]){
#embed "../../lib/scenarios/clock.lua"
        , 0}},
    {"scenarios.context", (const char[]){
#embed "../../lib/scenarios/context.lua"
        , 0}},
    {"scenarios.database", (const char[]){
#embed "../../lib/scenarios/database.lua"
        , 0}},
    {"scenarios.definitions", (const char[]){
#embed "../../lib/scenarios/definitions.lua"
        , 0}},
    {"scenarios.differences", (const char[]){
#embed "../../lib/scenarios/differences.lua"
        , 0}},
    {"scenarios.display", (const char[]){
#embed "../../lib/scenarios/display.lua"
        , 0}},
    {"scenarios.effects", (const char[]){
#embed "../../lib/scenarios/effects.lua"
        , 0}},
    {"scenarios.error_aspects", (const char[]){
#embed "../../lib/scenarios/error_aspects.lua"
        , 0}},
    {"scenarios.expect", (const char[]){
#embed "../../lib/scenarios/expect.lua"
        , 0}},
    {"scenarios.expect_error", (const char[]){
#embed "../../lib/scenarios/expect_error.lua"
        , 0}},
    {"scenarios.factories", (const char[]){
#embed "../../lib/scenarios/factories.lua"
        , 0}},
    {"scenarios.failures", (const char[]){
#embed "../../lib/scenarios/failures.lua"
        , 0}},
    {"scenarios.given", (const char[]){
#embed "../../lib/scenarios/given.lua"
        , 0}},
    {"scenarios.lookalikes", (const char[]){
#embed "../../lib/scenarios/lookalikes.lua"
        , 0}},
    {"scenarios.matchers", (const char[]){
#embed "../../lib/scenarios/matchers.lua"
        , 0}},
    {"scenarios.options", (const char[]){
#embed "../../lib/scenarios/options.lua"
        , 0}},
    {"scenarios.queries", (const char[]){
#embed "../../lib/scenarios/queries.lua"
        , 0}},
    {"scenarios.rewriting", (const char[]){
#embed "../../lib/scenarios/rewriting.lua"
        , 0}},
    {"scenarios.row_matching", (const char[]){
#embed "../../lib/scenarios/row_matching.lua"
        , 0}},
    {"scenarios.row_source", (const char[]){
#embed "../../lib/scenarios/row_source.lua"
        , 0}},
    {"scenarios.rows", (const char[]){
#embed "../../lib/scenarios/rows.lua"
        , 0}},
    {"scenarios.running", (const char[]){
#embed "../../lib/scenarios/running.lua"
        , 0}},
    {"scenarios.snapshots", (const char[]){
#embed "../../lib/scenarios/snapshots.lua"
        , 0}},
    {"scenarios.source", (const char[]){
#embed "../../lib/scenarios/source.lua"
        , 0}},
    {"scenarios.state", (const char[]){
#embed "../../lib/scenarios/state.lua"
        , 0}},
    {"scenarios.steps", (const char[]){
#embed "../../lib/scenarios/steps.lua"
        , 0}},
    {"scenarios.stub_counts", (const char[]){
#embed "../../lib/scenarios/stub_counts.lua"
        , 0}},
    {"scenarios.tasks", (const char[]){
#embed "../../lib/scenarios/tasks.lua"
        , 0}},
    {"scenarios.text_difference", (const char[]){
#embed "../../lib/scenarios/text_difference.lua"
        , 0}},
    {"scenarios.text_table", (const char[]){
#embed "../../lib/scenarios/text_table.lua"
        , 0}},
    {"scenarios.texts", (const char[]){
#embed "../../lib/scenarios/texts.lua"
        , 0}},
    {"scenarios.tokens", (const char[]){
#embed "../../lib/scenarios/tokens.lua"
        , 0}},
    {"scenarios.types", (const char[]){
#embed "../../lib/scenarios/types.lua"
        , 0}},
};

static int compare(const void *name, const void *entry) {
    return strcmp(name, ((const module *)entry)->name);
}

const char *perilune_scenario_library_source(const char *name) {
    const module *found = bsearch(name, modules, sizeof modules / sizeof *modules, sizeof *modules, compare);
    return found != NULL ? found->source : NULL;
}
