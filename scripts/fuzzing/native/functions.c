/* Checks that the interruptible SQL functions behave like SQLite's own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <perilune_long_functions.h>

static const char *const statements[] = {
    "SELECT instr(?1, ?2)", "SELECT instr(CAST(?1 AS BLOB), CAST(?2 AS BLOB))", "SELECT replace(?1, ?2, ?3)", "SELECT trim(?1, ?2)",
    "SELECT ltrim(?1, ?2)", "SELECT rtrim(?1, ?2)", "SELECT trim(?1)", "SELECT ?1 LIKE ?2", "SELECT ?1 LIKE ?2 ESCAPE '\\'", "SELECT ?1 LIKE ?2 ESCAPE ?3",
    "SELECT ?1 GLOB ?2", "SELECT zeroblob(length(?1) - length(?2))",
    "SELECT highlight(f, 0, '<', ?3) FROM f WHERE f MATCH ?2",
    "SELECT snippet(f, 0, '<', '>', ?3, 3) FROM f WHERE f MATCH ?2",
    "SELECT snippet(f, -1, '<', '>', '...', length(?3) % 70) FROM f WHERE f MATCH ?2",
};
enum { count = sizeof statements / sizeof *statements, first_of_full_text = 12 };

typedef struct {
    sqlite3 *handle;
    sqlite3_stmt *statements[count], *delete, *insert;
} connection;

static bool never(void) { return false; }

static bool always(sqlite3 *handle) { return (void)handle, true; }

static sqlite3_stmt *prepare(sqlite3 *handle, const char *sql) {
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(handle, sql, -1, &statement, NULL) != SQLITE_OK) abort();
    return statement;
}

static connection *open_connection(bool is_bound) {
    connection *connection = calloc(1, sizeof *connection);
    if (sqlite3_open(":memory:", &connection->handle) != SQLITE_OK) abort();
    if (is_bound && psql_bound_functions(connection->handle, never, always) != SQLITE_OK) abort();
    if (sqlite3_exec(connection->handle, "CREATE VIRTUAL TABLE f USING fts5(a, b)", NULL, NULL, NULL) != SQLITE_OK) abort();
    for (int i = 0; i < count; i++) connection->statements[i] = prepare(connection->handle, statements[i]);
    connection->delete = prepare(connection->handle, "DELETE FROM f");
    connection->insert = prepare(connection->handle, "INSERT INTO f VALUES (?1, ?2)");
    return connection;
}

/* Runs a statement with texts. Returns its result code, and prints its first value into memory allocated by SQLite. */
static int run(sqlite3_stmt *statement, const char *const texts[3], const size_t lengths[3], char **result) {
    int parameters = sqlite3_bind_parameter_count(statement);
    for (int i = 0; i < parameters; i++) sqlite3_bind_text64(statement, i + 1, texts[i], lengths[i], SQLITE_TRANSIENT, SQLITE_UTF8);
    int code = sqlite3_step(statement);
    *result = NULL;
    if (code == SQLITE_ROW) {
        int type = sqlite3_column_type(statement, 0), length = sqlite3_column_bytes(statement, 0);
        const unsigned char *bytes = sqlite3_column_blob(statement, 0);
        *result = sqlite3_mprintf("%d:%d:", type, length);
        for (int i = 0; i < length; i++) *result = sqlite3_mprintf("%z%02x", *result, bytes[i]);
    }
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    return code;
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size) {
    static connection *connections[2];
    if (!connections[0]) connections[0] = open_connection(false), connections[1] = open_connection(true);
    if (size < 1 || size > 600) return 0;
    int chosen = data[0] % count;
    const char *at = (const char *)data + 1, *end = (const char *)data + size, *texts[3];
    size_t lengths[3];
    /* Three texts, separated by 0xFF. */
    for (int i = 0; i < 3; i++) {
        const char *stop = i < 2 ? memchr(at, 0xFF, (size_t)(end - at)) : NULL;
        if (!stop) stop = end;
        texts[i] = at;
        lengths[i] = (size_t)(stop - at);
        at = stop < end ? stop + 1 : end;
    }
    int codes[2];
    char *results[2];
    for (int i = 0; i < 2; i++) {
        if (chosen >= first_of_full_text) {
            char *ignored;
            run(connections[i]->delete, texts, lengths, &ignored);
            run(connections[i]->insert, texts, lengths, &ignored);
        }
        codes[i] = run(connections[i]->statements[chosen], texts, lengths, &results[i]);
    }
    bool is_same = codes[0] == codes[1] && (!results[0] == !results[1]) && (!results[0] || strcmp(results[0], results[1]) == 0);
    if (!is_same) {
        fprintf(stderr, "%s\n  SQLite: %d %s\n  ours:   %d %s\n", statements[chosen], codes[0], results[0], codes[1], results[1]);
        abort();
    }
    sqlite3_free(results[0]);
    sqlite3_free(results[1]);
    return 0;
}
