/* The tables whose changes are reported, and their columns. */
#include "CPeriluneRows/Observers/observers.h"

#include <perilune_sessions.h>

void pdb_release_observed_table(pdb_observed_table *table) {
    if (--table->owners > 0) return;
    for (int i = 0; i < table->count; i++) {
        free(table->columns[i].name);
        sqlite3_value_free(table->columns[i].default_value);
    }
    free(table->columns);
    free(table->schema);
    free(table->name);
    free(table);
}

void pdb_observers_forget_tables(pdb_connection_observers *observers) {
    while (observers->tables) {
        pdb_observed_table *table = observers->tables;
        observers->tables = table->next;
        pdb_release_observed_table(table);
    }
}

/* Adds a column. Returns NULL if memory runs out. */
static pdb_observed_column *add_column(pdb_observed_table *table) {
    pdb_observed_column *columns = realloc(table->columns, ((size_t)table->count + 1) * sizeof *columns);
    if (columns == NULL) return NULL;
    table->columns = columns;
    columns[table->count] = (pdb_observed_column){.name = NULL};
    return &columns[table->count++];
}

/* Reads the columns. Virtual generated columns are not stored, so they are not reported. Columns after them are not reported either,
** because versions of SQLite number them differently. */
static bool read_columns(const pdb_connection_observers *observers, pdb_observed_table *table, sqlite3_stmt *statement) {
    enum { NAME = 1, TYPE = 2, HIDDEN = 6, VIRTUAL = 2 };
    bool has_virtual = false;
    while (sqlite3_step(statement) == SQLITE_ROW) {
        pdb_observed_column *column = add_column(table);
        if (column == NULL) return false;
        has_virtual = has_virtual || sqlite3_column_int(statement, HIDDEN) == VIRTUAL;
        if (has_virtual) continue;
        const char *name = (const char *)sqlite3_column_text(statement, NAME);
        if (name == NULL || (column->name = strdup(name)) == NULL) return false;
        const char *type = (const char *)sqlite3_column_text(statement, TYPE);
        if (type == NULL) continue;
        column->is_boolean = observers->sql.is_boolean(type);
        column->is_real = observers->sql.is_real(type);
    }
    return true;
}

/* Returns whether the table has row ids. */
static bool has_rowid(sqlite3 *handle, const pdb_observed_table *table) {
    enum { WITHOUT_ROWID = 4 };
    char *sql = sqlite3_mprintf("PRAGMA \"%w\".table_list(%Q)", table->schema, table->name);
    sqlite3_stmt *statement = NULL;
    bool has_rowid = sql && sqlite3_prepare_v2(handle, sql, -1, &statement, NULL) == SQLITE_OK &&
                     sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_int(statement, WITHOUT_ROWID) == 0;
    sqlite3_finalize(statement);
    sqlite3_free(sql);
    return has_rowid;
}

/* Reads the table inside the hook, in the same way as SQLite's session extension. */
static bool read_table(const pdb_connection_observers *observers, pdb_observed_table *table) {
    char *sql = sqlite3_mprintf("PRAGMA \"%w\".table_xinfo(%Q)", table->schema, table->name);
    sqlite3_stmt *statement = NULL;
    bool is_read = sql && sqlite3_prepare_v2(observers->handle, sql, -1, &statement, NULL) == SQLITE_OK &&
                   read_columns(observers, table, statement);
    sqlite3_finalize(statement);
    sqlite3_free(sql);
    if (is_read) table->has_rowid = has_rowid(observers->handle, table);
    return is_read;
}

sqlite3_value *pdb_default_of(sqlite3 *handle, pdb_observed_table *table, int column) {
    sqlite3_value **value = &table->columns[column].default_value;
    if (*value == NULL) psql_default_value(handle, table->schema, table->name, column, value);
    return *value;
}

pdb_observed_table *pdb_make_named_table(const char *schema, const char *name) {
    pdb_observed_table *table = calloc(1, sizeof *table);
    if (table == NULL) return NULL;
    table->owners = 1;
    table->has_rowid = true;
    table->schema = strdup(schema);
    table->name = strdup(name);
    if (table->schema && table->name) return table;
    pdb_release_observed_table(table);
    return NULL;
}

static pdb_observed_table *make_table(const pdb_connection_observers *observers, const char *schema, const char *name) {
    pdb_observed_table *table = pdb_make_named_table(schema, name);
    if (table == NULL || read_table(observers, table)) return table;
    pdb_release_observed_table(table);
    return NULL;
}

pdb_observed_table *pdb_observed_table_of(pdb_connection_observers *observers, const char *schema, const char *name) {
    pdb_observed_table **link = &observers->tables;
    for (; *link; link = &(*link)->next) {
        pdb_observed_table *table = *link;
        if (strcmp(table->name, name) != 0 || strcmp(table->schema, schema) != 0) continue;
        if (table->count == sqlite3_preupdate_count(observers->handle)) return table;
        *link = table->next; /* another connection has changed the table */
        pdb_release_observed_table(table);
        break;
    }
    pdb_observed_table *table = make_table(observers, schema, name);
    if (table == NULL) return NULL;
    table->next = observers->tables;
    return observers->tables = table;
}
