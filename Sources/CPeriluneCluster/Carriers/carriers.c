/* The SQLite virtual tables on which carriers run. */
#include <stdlib.h>
#include <string.h>

#include <perilune_carriers.h>

/* The data that a module, its table and its cursors share. */
typedef struct {
    const pcl_carrier_calls *calls;
    void *statement; /* retained */
    int column_count, parameter_count;
    char *declaration;
} carrier;

typedef struct {
    sqlite3_vtab base;
    carrier carrier; /* a copy without the declaration, because the module can be destroyed before the table */
    sqlite3 *connection;
} table;

typedef struct {
    sqlite3_vtab_cursor base;
    pcl_rows rows;
    bool is_open, is_at_end;
    sqlite3_int64 position;
    sqlite3_value **parameters; /* copies for constraints that SQLite checks again, or NULL */
    int parameter_count;
    pcl_value values[];
} cursor;

/* The number of constraints that SQLite can be asked not to check again. It checks all further constraints. */
enum { most_omitted = 16 };

static carrier copy_carrier(const carrier *source) {
    carrier copy = *source;
    copy.statement = source->calls->retain(source->statement);
    copy.declaration = NULL;
    return copy;
}

static int connect(sqlite3 *connection, void *context, int count, const char *const *arguments, sqlite3_vtab **result, char **message) {
    (void)count, (void)arguments, (void)message;
    const carrier *carrier = context;
    int code = sqlite3_declare_vtab(connection, carrier->declaration);
    if (code != SQLITE_OK) return code;
    table *new = calloc(1, sizeof *new);
    if (new == NULL) return SQLITE_NOMEM;
    new->carrier = copy_carrier(carrier);
    new->connection = connection;
    *result = &new->base;
    return SQLITE_OK;
}

static int disconnect(sqlite3_vtab *base) {
    table *old = (table *)base;
    old->carrier.calls->release(old->carrier.statement);
    free(old);
    return SQLITE_OK;
}

/* Plans a query. The carrier's SQL has exactly one constraint for each parameter. */
static int best_index(sqlite3_vtab *base, sqlite3_index_info *info) {
    const carrier *carrier = &((table *)base)->carrier;
    int found = 0;
    for (int i = 0; i < info->nConstraint; i++) {
        int parameter = info->aConstraint[i].iColumn - carrier->column_count;
        unsigned char operator = info->aConstraint[i].op;
        if (parameter < 0 || (operator != SQLITE_INDEX_CONSTRAINT_EQ && operator != SQLITE_INDEX_CONSTRAINT_IS)) continue;
        if (!info->aConstraint[i].usable) return SQLITE_CONSTRAINT;
        info->aConstraintUsage[i].argvIndex = parameter + 1;
        info->aConstraintUsage[i].omit = 1;
        found++;
    }
    info->estimatedCost = 1;
    return found == carrier->parameter_count ? SQLITE_OK : SQLITE_CONSTRAINT;
}

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **result) {
    const carrier *carrier = &((table *)base)->carrier;
    cursor *new = calloc(1, sizeof *new + (size_t)carrier->column_count * sizeof *new->values);
    if (new == NULL) return SQLITE_NOMEM;
    *result = &new->base;
    return SQLITE_OK;
}

static const carrier *carrier_of(const cursor *cursor) { return &((table *)cursor->base.pVtab)->carrier; }

static void end_rows(cursor *cursor) {
    if (!cursor->is_open) return;
    cursor->is_open = false;
    carrier_of(cursor)->calls->end(carrier_of(cursor)->statement, &cursor->rows);
}

static void free_parameters(cursor *cursor) {
    for (int i = 0; i < cursor->parameter_count; i++) sqlite3_value_free(cursor->parameters[i]);
    free(cursor->parameters);
    cursor->parameters = NULL;
    cursor->parameter_count = 0;
}

static int keep_parameters(cursor *cursor, int count, sqlite3_value **values) {
    free_parameters(cursor);
    if (count <= most_omitted) return SQLITE_OK;
    cursor->parameters = calloc((size_t)count, sizeof *cursor->parameters);
    if (cursor->parameters == NULL) return SQLITE_NOMEM;
    for (; cursor->parameter_count < count; cursor->parameter_count++) {
        sqlite3_value *copy = sqlite3_value_dup(values[cursor->parameter_count]);
        if (copy == NULL) return SQLITE_NOMEM;
        cursor->parameters[cursor->parameter_count] = copy;
    }
    return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *base) {
    end_rows((cursor *)base);
    free_parameters((cursor *)base);
    free(base);
    return SQLITE_OK;
}

static void set_message(sqlite3_vtab *base, char *message) {
    if (message == NULL) return;
    sqlite3_free(base->zErrMsg);
    base->zErrMsg = message;
}

static int next_row(sqlite3_vtab_cursor *base) {
    cursor *at = (cursor *)base;
    const carrier *carrier = carrier_of(at);
    for (;;) {
        switch (at->rows.next_row(&at->rows.page, carrier->column_count, at->values)) {
            case PCL_ROW: at->position++; return SQLITE_OK;
            case PCL_END_OF_ROWS: at->is_at_end = true; return SQLITE_OK;
            case PCL_MALFORMED:
                set_message(base->pVtab, sqlite3_mprintf("the rows that have come cannot be read"));
                return SQLITE_PROTOCOL;
            case PCL_END_OF_PAGE: break;
        }
        char *message = NULL;
        int code = carrier->calls->next_page(carrier->statement, &at->rows, &message);
        set_message(base->pVtab, message);
        if (code != SQLITE_OK) return code;
    }
}

static int filter(sqlite3_vtab_cursor *base, int number, const char *text, int count, sqlite3_value **values) {
    (void)number, (void)text;
    cursor *at = (cursor *)base;
    const carrier *carrier = carrier_of(at);
    end_rows(at);
    at->is_at_end = false;
    at->position = 0;
    char *message = NULL;
    at->rows = (pcl_rows){0};
    int code = keep_parameters(at, count, values);
    if (code != SQLITE_OK) return code;
    code = carrier->calls->read(carrier->statement, count, values, &at->rows, &message);
    set_message(base->pVtab, message);
    if (code != SQLITE_OK) return code;
    at->is_open = true;
    return next_row(base);
}

static int is_at_end(sqlite3_vtab_cursor *base) { return ((cursor *)base)->is_at_end; }

static int give_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column) {
    const cursor *at = (const cursor *)base;
    int parameter = column - carrier_of(at)->column_count;
    if (parameter >= 0) {
        if (parameter < at->parameter_count) sqlite3_result_value(context, at->parameters[parameter]);
        return SQLITE_OK;
    }
    const pcl_value *value = &at->values[column];
    switch (value->type) {
        case PCL_INTEGER: sqlite3_result_int64(context, value->integer); break;
        case PCL_FLOAT: sqlite3_result_double(context, value->number); break;
        /* Without a length, SQLite searches for the NUL. With a length, it would copy the text in order to append a NUL. */
        case PCL_TEXT: sqlite3_result_text(context, (const char *)value->bytes, -1, SQLITE_STATIC); break;
        case PCL_BLOB: sqlite3_result_blob64(context, value->bytes, value->length, SQLITE_STATIC); break;
        default: sqlite3_result_null(context);
    }
    return SQLITE_OK;
}

static int give_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid) {
    *rowid = ((cursor *)base)->position;
    return SQLITE_OK;
}

/* Handles INSERT. The values are two NULLs followed by the columns. The first column exists only because a table needs at least
** one. */
static int update(sqlite3_vtab *base, int count, sqlite3_value **values, sqlite3_int64 *rowid) {
    table *at = (table *)base;
    if (count != 3 + at->carrier.parameter_count) return SQLITE_MISUSE;
    *rowid = sqlite3_last_insert_rowid(at->connection);
    char *message = NULL;
    int code = at->carrier.calls->write(at->carrier.statement, at->carrier.parameter_count, values + 3, rowid, &message);
    set_message(base, message);
    return code;
}

static const sqlite3_module module = {
    .iVersion = 1,
    .xConnect = connect,
    .xBestIndex = best_index,
    .xDisconnect = disconnect,
    .xOpen = open_cursor,
    .xClose = close_cursor,
    .xFilter = filter,
    .xNext = next_row,
    .xEof = is_at_end,
    .xColumn = give_column,
    .xRowid = give_rowid,
    .xUpdate = update,
};

static void destroy(void *context) {
    carrier *old = context;
    old->calls->release(old->statement);
    sqlite3_free(old->declaration);
    free(old);
}

int pcl_define_carrier(sqlite3 *connection, const char *name, const char *declaration, int column_count, int parameter_count,
                       void *statement, const pcl_carrier_calls *calls) {
    carrier *new = malloc(sizeof *new);
    char *copy = sqlite3_mprintf("%s", declaration);
    if (new == NULL || copy == NULL) {
        free(new);
        sqlite3_free(copy);
        return SQLITE_NOMEM;
    }
    *new = (carrier){calls, calls->retain(statement), column_count, parameter_count, copy};
    return sqlite3_create_module_v2(connection, name, &module, new, destroy);
}

void pcl_remove_carrier(sqlite3 *connection, const char *name) { sqlite3_create_module_v2(connection, name, NULL, NULL, NULL); }

char *pcl_copy_message(const char *message) { return sqlite3_mprintf("%s", message); }

void pcl_enforces_foreign_keys(sqlite3 *connection, int *is_enforced) {
    sqlite3_db_config(connection, SQLITE_DBCONFIG_ENABLE_FKEY, -1, is_enforced);
}
