/*
** The Lua modules that are shipped inside the binary. Written by scripts/embed.
*/
#include "perilune_console_library.h"

#include <stdlib.h>
#include <string.h>

#pragma clang diagnostic ignored "-Wc23-extensions" /* #embed, which clang has in all dialects */

typedef struct {
    const char *name;
    const char *source;
} module;

/* In the order of the names. */
static const module modules[] = {
    {"console", (const char[]){
#embed "../../lib/console/init.lua"
        , 0}},
    {"console.completion", (const char[]){
#embed "../../lib/console/completion.lua"
        , 0}},
    {"console.display", (const char[]){
#embed "../../lib/console/display.lua"
        , 0}},
    {"console.models", (const char[]){
#embed "../../lib/console/models.lua"
        , 0}},
    {"console.statements", (const char[]){
#embed "../../lib/console/statements.lua"
        , 0}},
};

static int compare(const void *name, const void *entry) {
    return strcmp(name, ((const module *)entry)->name);
}

const char *perilune_console_library_source(const char *name) {
    const module *found = bsearch(name, modules, sizeof modules / sizeof *modules, sizeof *modules, compare);
    return found != NULL ? found->source : NULL;
}
