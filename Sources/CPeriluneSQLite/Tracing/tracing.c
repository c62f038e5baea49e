/* Tracing statements. See perilune_tracing.h. */
#include <stdlib.h>
#include <string.h>

#include <perilune_tracing.h>
#include "CPeriluneRows/rows_internal.h"

enum {
    most_active = 16,      /* statements that are told with their time and rows; others with neither */
    most_parameters = 250, /* beyond that, writing out the values would cost more than the statement */
};

typedef struct {
    sqlite3_stmt *statement;
    uint64_t start;
    int64_t rows;
    sqlite3_int64 changes;
} active_statement;

typedef struct {
    char *bytes;
    size_t capacity;
} text;

struct psql_trace {
    psql_traced last;
    text sql, expanded, file;
    int64_t count;
    int pauses;
    active_statement active[most_active];
    void (*tell)(void *context, const psql_traced *statement);
    void *context;
    void (*forget_reading)(void *clock);
    void *clock;
};

/* MARK: - What counts */

static bool begins_with(const char *sql, const char *word) {
    return sqlite3_strnicmp(sql, word, (int)strlen(word)) == 0;
}

static bool looks_at_schema(const char *sql) {
    return strstr(sql, "pragma_") || strstr(sql, "sqlite_master") || strstr(sql, "sqlite_schema") ||
           strstr(sql, "sqlite_temp_") || strstr(sql, "grdb_migrations");
}

static bool counts(const char *sql) {
    static const char *const words[] = {"BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE", "PRAGMA", "EXPLAIN"};
    sql += pdb_blank_length(sql, strlen(sql));
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (begins_with(sql, words[i])) return false;
    }
    return !looks_at_schema(sql);
}

/* MARK: - Following statements */

static active_statement *find(psql_trace *trace, sqlite3_stmt *statement) {
    for (int i = 0; i < most_active; i++) {
        if (trace->active[i].statement == statement) return &trace->active[i];
    }
    return NULL;
}

static void begin(psql_trace *trace, sqlite3_stmt *statement) {
    active_statement *active = find(trace, statement);
    if (active) return; /* a trigger, of which SQLite tells as of its statement */
    active = find(trace, NULL);
    if (active == NULL) return;
    *active = (active_statement){statement, plua_now(), 0, sqlite3_total_changes64(sqlite3_db_handle(statement))};
}

static const char *keep(text *text, const char *bytes) {
    size_t size = strlen(bytes) + 1;
    if (text->capacity < size) {
        char *grown = realloc(text->bytes, size * 2);
        if (grown == NULL) return NULL;
        text->bytes = grown;
        text->capacity = size * 2;
    }
    memcpy(text->bytes, bytes, size);
    return text->bytes;
}

static void find_place(psql_trace *trace) {
    trace->last.file = NULL;
    plua_context *context = plua_running_context();
    lua_Debug activation;
    if (context == NULL || !plua_find_position(context->running, &activation)) return;
    const char *source = activation.source;
    trace->last.file = keep(&trace->file, *source == '@' || *source == '=' ? source + 1 : activation.short_src);
    trace->last.line = activation.currentline;
}

static void keep_values(psql_trace *trace, sqlite3_stmt *statement) {
    trace->last.expanded = NULL;
    int count = sqlite3_bind_parameter_count(statement);
    if (count == 0 || count > most_parameters) return;
    char *expanded = sqlite3_expanded_sql(statement);
    if (expanded) trace->last.expanded = keep(&trace->expanded, expanded);
    sqlite3_free(expanded);
}

static void end(psql_trace *trace, sqlite3_stmt *statement) {
    active_statement active = {0}, *found = find(trace, statement);
    if (found) {
        active = *found;
        found->statement = NULL;
    }
    const char *sql = sqlite3_sql(statement);
    if (trace->pauses > 0 || sql == NULL || !counts(sql)) return;
    psql_traced *last = &trace->last;
    sqlite3 *db = sqlite3_db_handle(statement);
    last->sql = keep(&trace->sql, sql);
    last->is_writing = !sqlite3_stmt_readonly(statement);
    last->nanoseconds = found ? plua_now() - active.start : 0;
    last->rows = active.rows;
    if (last->is_writing && found && sqlite3_total_changes64(db) != active.changes) last->rows = sqlite3_changes64(db);
    keep_values(trace, statement);
    find_place(trace);
    trace->count++;
    if (trace->tell && last->sql) trace->tell(trace->context, last);
}

static int receive(unsigned event, void *context, void *statement, void *detail) {
    (void)detail;
    psql_trace *trace = context;
    active_statement *active;
    if (event != SQLITE_TRACE_ROW && trace->forget_reading) trace->forget_reading(trace->clock);
    switch (event) {
        case SQLITE_TRACE_STMT: begin(trace, statement); break;
        case SQLITE_TRACE_PROFILE: end(trace, statement); break;
        case SQLITE_TRACE_ROW:
            active = find(trace, statement);
            if (active) active->rows++;
            break;
    }
    return 0;
}

/* MARK: - For Swift */

psql_trace *psql_trace_make(void (*forget_reading)(void *clock), void *clock) {
    psql_trace *trace = calloc(1, sizeof *trace);
    if (trace) *trace = (psql_trace){.forget_reading = forget_reading, .clock = clock};
    return trace;
}

void psql_trace_free(psql_trace *trace) {
    free(trace->sql.bytes);
    free(trace->expanded.bytes);
    free(trace->file.bytes);
    free(trace);
}

int psql_trace_connection(psql_trace *trace, sqlite3 *db) {
    return sqlite3_trace_v2(db, SQLITE_TRACE_STMT | SQLITE_TRACE_PROFILE | SQLITE_TRACE_ROW, receive, trace);
}

const psql_traced *psql_trace_last(const psql_trace *trace) {
    return trace->last.sql ? &trace->last : NULL;
}

int64_t psql_trace_count(const psql_trace *trace) { return trace->count; }

void psql_trace_tell(psql_trace *trace, void (*tell)(void *context, const psql_traced *statement), void *context) {
    trace->tell = tell;
    trace->context = context;
}

void psql_trace_pause(psql_trace *trace, bool is_paused) { trace->pauses += is_paused ? 1 : -1; }
