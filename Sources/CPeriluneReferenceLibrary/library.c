/*
** The Lua modules that are shipped inside the binary. Written by scripts/embed.
*/
#include "perilune_reference_library.h"

#include <stdlib.h>
#include <string.h>

#pragma clang diagnostic ignored "-Wc23-extensions" /* #embed, which clang has in all dialects */

typedef struct {
    const char *name;
    const char *source;
} module;

/* In the order of the names. */
static const module modules[] = {
    {"reference", (const char[]){
#embed "../../lib/reference/init.lua"
        , 0}},
    {"reference.api.associations", (const char[]){
#embed "../../lib/reference/api/associations.lua"
        , 0}},
    {"reference.api.automations", (const char[]){
#embed "../../lib/reference/api/automations.lua"
        , 0}},
    {"reference.api.changesets", (const char[]){
#embed "../../lib/reference/api/changesets.lua"
        , 0}},
    {"reference.api.databases", (const char[]){
#embed "../../lib/reference/api/databases.lua"
        , 0}},
    {"reference.api.dates", (const char[]){
#embed "../../lib/reference/api/dates.lua"
        , 0}},
    {"reference.api.errors", (const char[]){
#embed "../../lib/reference/api/errors.lua"
        , 0}},
    {"reference.api.expectations", (const char[]){
#embed "../../lib/reference/api/expectations.lua"
        , 0}},
    {"reference.api.expressions", (const char[]){
#embed "../../lib/reference/api/expressions.lua"
        , 0}},
    {"reference.api.history", (const char[]){
#embed "../../lib/reference/api/history.lua"
        , 0}},
    {"reference.api.jobs", (const char[]){
#embed "../../lib/reference/api/jobs.lua"
        , 0}},
    {"reference.api.migrations", (const char[]){
#embed "../../lib/reference/api/migrations.lua"
        , 0}},
    {"reference.api.observation", (const char[]){
#embed "../../lib/reference/api/observation.lua"
        , 0}},
    {"reference.api.perilune", (const char[]){
#embed "../../lib/reference/api/perilune.lua"
        , 0}},
    {"reference.api.records", (const char[]){
#embed "../../lib/reference/api/records.lua"
        , 0}},
    {"reference.api.requests", (const char[]){
#embed "../../lib/reference/api/requests.lua"
        , 0}},
    {"reference.api.rows", (const char[]){
#embed "../../lib/reference/api/rows.lua"
        , 0}},
    {"reference.api.scenarios", (const char[]){
#embed "../../lib/reference/api/scenarios.lua"
        , 0}},
    {"reference.api.schema", (const char[]){
#embed "../../lib/reference/api/schema.lua"
        , 0}},
    {"reference.api.tasks", (const char[]){
#embed "../../lib/reference/api/tasks.lua"
        , 0}},
    {"reference.articles", (const char[]){
#embed "../../lib/reference/articles.lua"
        , 0}},
    {"reference.files", (const char[]){
#embed "../../lib/reference/files.lua"
        , 0}},
    {"reference.help", (const char[]){
#embed "../../lib/reference/help.lua"
        , 0}},
    {"reference.types", (const char[]){
#embed "../../lib/reference/types.lua"
        , 0}},
    {"reference.types.perilune", (const char[]){
#embed "../../lib/reference/types/perilune.lua"
        , 0}},
    {"reference.types.scenarios", (const char[]){
#embed "../../lib/reference/types/scenarios.lua"
        , 0}},
};

static int compare(const void *name, const void *entry) {
    return strcmp(name, ((const module *)entry)->name);
}

const char *perilune_reference_library_source(const char *name) {
    const module *found = bsearch(name, modules, sizeof modules / sizeof *modules, sizeof *modules, compare);
    return found != NULL ? found->source : NULL;
}
