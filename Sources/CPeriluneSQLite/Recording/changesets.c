/* Reading changesets row by row, and applying them. */
#include <perilune_recording.h>
#include <stdlib.h>
#include <string.h>

/* Describes the change that an iterator stands on. */
static int describe(sqlite3_changeset_iter *iterator, psql_row_change *change) {
    int operation = 0, is_indirect = 0, column_count = 0;
    unsigned char *is_key = NULL;
    int code = sqlite3changeset_op(iterator, &change->table, &column_count, &operation, &is_indirect);
    if (code == SQLITE_OK) code = sqlite3changeset_pk(iterator, &is_key, &column_count);
    if (code != SQLITE_OK) return code;
    change->kind = operation == SQLITE_INSERT   ? PSQL_ROW_INSERTED
                   : operation == SQLITE_DELETE ? PSQL_ROW_DELETED
                                                : PSQL_ROW_UPDATED;
    change->is_indirect = is_indirect != 0;
    change->column_count = column_count;
    change->is_key = is_key;
    change->iterator = iterator;
    return SQLITE_OK;
}

sqlite3_value *psql_row_change_old(const psql_row_change *change, int column) {
    sqlite3_value *value = NULL;
    if (change->kind == PSQL_ROW_INSERTED) return NULL;
    return sqlite3changeset_old(change->iterator, column, &value) == SQLITE_OK ? value : NULL;
}

sqlite3_value *psql_row_change_new(const psql_row_change *change, int column) {
    sqlite3_value *value = NULL;
    if (change->kind == PSQL_ROW_DELETED) return NULL;
    return sqlite3changeset_new(change->iterator, column, &value) == SQLITE_OK ? value : NULL;
}

int psql_read_changeset(const void *bytes, int length, bool (*visit)(void *context, const psql_row_change *change),
                            void *context) {
    sqlite3_changeset_iter *iterator = NULL;
    int code = sqlite3changeset_start(&iterator, length, (void *)bytes);
    if (code != SQLITE_OK) return code;
    while (sqlite3changeset_next(iterator) == SQLITE_ROW) {
        psql_row_change change = {0};
        if (describe(iterator, &change) != SQLITE_OK || !visit(context, &change)) break;
    }
    return sqlite3changeset_finalize(iterator);
}

/* MARK: - Applying */

typedef struct {
    void (*tell)(void *context, const psql_conflict *conflict);
    void *context;
    bool has_conflict;
} application;

sqlite3_value *psql_conflict_current(const psql_conflict *conflict, int column) {
    sqlite3_value *value = NULL;
    if (conflict->kind != PSQL_CONFLICT_DIFFERS && conflict->kind != PSQL_CONFLICT_EXISTS) return NULL;
    return sqlite3changeset_conflict(conflict->change->iterator, column, &value) == SQLITE_OK ? value : NULL;
}

static psql_conflict_kind kind_of(int conflict) {
    switch (conflict) {
        case SQLITE_CHANGESET_DATA: return PSQL_CONFLICT_DIFFERS;
        case SQLITE_CHANGESET_NOTFOUND: return PSQL_CONFLICT_MISSING;
        case SQLITE_CHANGESET_CONFLICT: return PSQL_CONFLICT_EXISTS;
        default: return PSQL_CONFLICT_CONSTRAINT;
    }
}

static int abort_on_conflict(void *context, int conflict, sqlite3_changeset_iter *iterator) {
    application *state = context;
    psql_row_change change = {0};
    if (describe(iterator, &change) == SQLITE_OK && !state->has_conflict) {
        psql_conflict told = {.kind = kind_of(conflict), .change = &change, .table = change.table};
        state->tell(state->context, &told);
    }
    state->has_conflict = true;
    return SQLITE_CHANGESET_ABORT;
}

typedef struct {
    sqlite3 *db;
    application *state;
    char *checked; /* the last table that was found in order */
} table_check;

/* The columns of a table, and which of them are the key, as a changeset has them. */
static bool has_shape(sqlite3 *db, const psql_row_change *change) {
    sqlite3_stmt *statement = NULL;
    char *sql = sqlite3_mprintf("SELECT pk <> 0 FROM pragma_table_info(%Q, 'main') ORDER BY cid", change->table);
    if (sql == NULL || sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK) {
        sqlite3_free(sql);
        return false;
    }
    sqlite3_free(sql);
    int column = 0;
    bool is_same = true;
    for (; sqlite3_step(statement) == SQLITE_ROW; column++) {
        bool is_key = sqlite3_column_int(statement, 0) != 0;
        if (column >= change->column_count || is_key != (change->is_key[column] != 0)) is_same = false;
    }
    sqlite3_finalize(statement);
    return is_same && column == change->column_count;
}

/* SQLite skips the changes of tables that it does not find, or finds different: none may be skipped. */
static bool check_table(void *context, const psql_row_change *change) {
    table_check *check = context;
    if (check->checked && strcmp(check->checked, change->table) == 0) return true;
    free(check->checked);
    check->checked = NULL;
    if (has_shape(check->db, change)) {
        check->checked = strdup(change->table);
        return true;
    }
    psql_conflict told = {.kind = PSQL_CONFLICT_TABLE, .table = change->table};
    check->state->tell(check->state->context, &told);
    check->state->has_conflict = true;
    return false;
}

static int check_tables(sqlite3 *db, const void *bytes, int length, application *state) {
    table_check check = {.db = db, .state = state};
    int code = psql_read_changeset(bytes, length, check_table, &check);
    free(check.checked);
    return code != SQLITE_OK ? code : state->has_conflict ? SQLITE_ABORT : SQLITE_OK;
}

int psql_apply_changeset(sqlite3 *db, const void *bytes, int length,
                             void (*tell)(void *context, const psql_conflict *conflict), void *context) {
    application state = {.tell = tell, .context = context};
    int code = check_tables(db, bytes, length, &state);
    if (code != SQLITE_OK) return code;
    int had_triggers = 1;
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, -1, &had_triggers);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    code = sqlite3changeset_apply(db, length, (void *)bytes, NULL, abort_on_conflict, &state);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, had_triggers, NULL);
    return state.has_conflict ? SQLITE_ABORT : code;
}

void psql_keep_log(sqlite3 *db) { sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL); }
