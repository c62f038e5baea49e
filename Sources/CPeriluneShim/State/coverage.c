/* Which lines of Lua run, and how often: noted by the hook that the limits have set, since a state has only one. */
#include <stdlib.h>
#include <string.h>

#include "CPeriluneShim/State/state.h"

typedef struct {
    char *name;
    uint32_t *counts; /* by line */
    size_t capacity;
} covered_file;

struct plua_coverage {
    covered_file *files;
    size_t count;
    size_t current; /* the file that ran last */
};

static covered_file *find_file(plua_coverage *coverage, const char *source) {
    /* By name: Lua may have collected the chunk that ran last, and the source of another may have its address. */
    size_t i = coverage->current;
    if (i < coverage->count && strcmp(coverage->files[i].name, source + 1) == 0) return &coverage->files[i];
    for (i = 0; i < coverage->count && strcmp(coverage->files[i].name, source + 1) != 0;) i++;
    if (i == coverage->count) {
        covered_file *grown = realloc(coverage->files, (i + 1) * sizeof *grown);
        if (grown == NULL) return NULL;
        coverage->files = grown;
        char *name = strdup(source + 1);
        if (name == NULL) return NULL;
        grown[i] = (covered_file){.name = name};
        coverage->count++;
    }
    coverage->current = i;
    return &coverage->files[i];
}

void plua_note_line(plua_coverage *coverage, lua_State *L, lua_Debug *activation) {
    int line = activation->currentline;
    if (line <= 0 || !lua_getinfo(L, "S", activation) || *activation->source != '@') return;
    covered_file *file = find_file(coverage, activation->source);
    if (file == NULL) return;
    if ((size_t)line >= file->capacity) {
        size_t capacity = (size_t)line * 2 + 64;
        uint32_t *grown = realloc(file->counts, capacity * sizeof *grown);
        if (grown == NULL) return;
        memset(grown + file->capacity, 0, (capacity - file->capacity) * sizeof *grown);
        file->counts = grown;
        file->capacity = capacity;
    }
    if (file->counts[line] < UINT32_MAX) file->counts[line]++;
}

bool plua_cover_lines(plua_context *context) {
    context->coverage = calloc(1, sizeof *context->coverage);
    if (context->coverage == NULL) return false;
    plua_install_hook(context->main);
    return true;
}

void plua_read_coverage(plua_context *context, void (*take)(void *receiver, const char *file, int line, uint32_t count),
                            void *receiver) {
    plua_coverage *coverage = context->coverage;
    if (coverage == NULL) return;
    for (size_t i = 0; i < coverage->count; i++) {
        covered_file *file = &coverage->files[i];
        for (size_t line = 1; line < file->capacity; line++) {
            if (file->counts[line] > 0) take(receiver, file->name, (int)line, file->counts[line]);
        }
    }
}

void plua_free_coverage(plua_coverage *coverage) {
    if (coverage == NULL) return;
    for (size_t i = 0; i < coverage->count; i++) {
        free(coverage->files[i].name);
        free(coverage->files[i].counts);
    }
    free(coverage->files);
    free(coverage);
}
