/* Line coverage: records which Lua lines run, how often, and in which order. It uses the hook of the limits, because a state has only one
** hook. */
#include <perilune_arrays.h>

#include "CPeriluneShim/State/state.h"

typedef struct {
    char *name;
    uint32_t *counts; /* by line */
    size_t capacity;
} covered_file;

struct plua_coverage {
    covered_file *files;
    size_t count, capacity;
    size_t current; /* the file that ran last */
    plua_line_trace trace;
    size_t trace_capacity, trace_limit; /* the limit is 0 unless the order is recorded */
};

static covered_file *find_file(plua_coverage *coverage, const char *source) {
    /* Files are compared by name, because a new chunk's source may have the address of a collected one. */
    size_t i = coverage->current;
    if (i < coverage->count && strcmp(coverage->files[i].name, source + 1) == 0) return &coverage->files[i];
    for (i = 0; i < coverage->count && strcmp(coverage->files[i].name, source + 1) != 0;) i++;
    if (i == coverage->count) {
        if (!PLUA_ADD_ROOM(coverage->files, coverage->count, coverage->capacity)) return NULL;
        char *name = strdup(source + 1);
        if (name == NULL) return NULL;
        coverage->files[i] = (covered_file){.name = name};
        coverage->count++;
    }
    coverage->current = i;
    return &coverage->files[i];
}

static void note_in_order(plua_coverage *coverage, int line) {
    plua_line_trace *trace = &coverage->trace;
    uint32_t entry = (uint32_t)coverage->current << 20 | ((uint32_t)line & 0xFFFFF);
    trace->total++;
    trace->hash = (trace->hash ^ entry) * 0x100000001B3u;
    if (trace->count == coverage->trace_limit) return;
    if (!PLUA_ADD_ROOM(trace->entries, trace->count, coverage->trace_capacity)) return;
    trace->entries[trace->count++] = entry;
}

void plua_note_line(plua_coverage *coverage, lua_State *L, lua_Debug *activation) {
    int line = activation->currentline;
    if (line <= 0 || !lua_getinfo(L, "S", activation) || *activation->source != '@') return;
    covered_file *file = find_file(coverage, activation->source);
    if (file == NULL) return;
    if (coverage->trace_limit > 0) note_in_order(coverage, line);
    size_t former = file->capacity;
    if (!plua_make_room(&file->counts, (size_t)line + 1, &file->capacity, sizeof *file->counts)) return;
    memset(file->counts + former, 0, (file->capacity - former) * sizeof *file->counts);
    if (file->counts[line] < UINT32_MAX) file->counts[line]++;
}

bool plua_cover_lines(plua_context *context) {
    if (context->coverage != NULL) return true;
    context->coverage = calloc(1, sizeof *context->coverage);
    if (context->coverage == NULL) return false;
    plua_reset_hook(context->main);
    return true;
}

bool plua_trace_lines(plua_context *context, size_t limit) {
    if (!plua_cover_lines(context)) return false;
    context->coverage->trace_limit = limit;
    return true;
}

const plua_line_trace *plua_read_line_trace(plua_context *context) {
    return context->coverage ? &context->coverage->trace : NULL;
}

const char *plua_traced_file(plua_context *context, size_t file) {
    plua_coverage *coverage = context->coverage;
    return coverage && file < coverage->count ? coverage->files[file].name : NULL;
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
    free(coverage->trace.entries);
    free(coverage);
}
