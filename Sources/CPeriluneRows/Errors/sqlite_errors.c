/* SQLite errors as error objects. */
#include "CPeriluneRows/Errors/errors.h"

typedef struct {
    int code;
    const char *name, *kind;
} result_code;

#define CODE(name, kind) {SQLITE_##name, "SQLITE_" #name, kind}

/* The error kinds. Kinds are finer than SQLite's primary codes only for constraints. */
static const result_code codes[] = {
    CODE(ERROR, "sql"), CODE(INTERNAL, "internal"), CODE(PERM, "perm"), CODE(ABORT, "abort"), CODE(BUSY, "busy"),
    CODE(LOCKED, "locked"), CODE(NOMEM, "nomem"), CODE(READONLY, "readonly"), CODE(INTERRUPT, "interrupt"),
    CODE(IOERR, "ioerr"), CODE(CORRUPT, "corrupt"), CODE(NOTFOUND, "notfound"), CODE(FULL, "full"),
    CODE(CANTOPEN, "cannot_open"), CODE(PROTOCOL, "protocol"), CODE(EMPTY, "empty"), CODE(SCHEMA, "schema"),
    CODE(TOOBIG, "toobig"), CODE(CONSTRAINT, "constraint"), CODE(MISMATCH, "mismatch"), CODE(MISUSE, "misuse"),
    CODE(NOLFS, "nolfs"), CODE(AUTH, "auth"), CODE(FORMAT, "format"), CODE(RANGE, "range"), CODE(NOTADB, "notadb"),
    CODE(ERROR_MISSING_COLLSEQ, "sql"), CODE(ERROR_RETRY, "sql"),
    CODE(ERROR_SNAPSHOT, "sql"), CODE(ABORT_ROLLBACK, "abort"),
    CODE(BUSY_RECOVERY, "busy"), CODE(BUSY_SNAPSHOT, "busy"), CODE(BUSY_TIMEOUT, "busy"),
    CODE(LOCKED_SHAREDCACHE, "locked"), CODE(LOCKED_VTAB, "locked"),
    CODE(READONLY_RECOVERY, "readonly"), CODE(READONLY_CANTLOCK, "readonly"),
    CODE(READONLY_ROLLBACK, "readonly"), CODE(READONLY_DBMOVED, "readonly"),
    CODE(READONLY_CANTINIT, "readonly"), CODE(READONLY_DIRECTORY, "readonly"),
    CODE(CANTOPEN_NOTEMPDIR, "cannot_open"), CODE(CANTOPEN_ISDIR, "cannot_open"),
    CODE(CANTOPEN_FULLPATH, "cannot_open"), CODE(CANTOPEN_CONVPATH, "cannot_open"),
    CODE(CANTOPEN_SYMLINK, "cannot_open"), CODE(CORRUPT_VTAB, "corrupt"),
    CODE(CORRUPT_SEQUENCE, "corrupt"), CODE(CORRUPT_INDEX, "corrupt"),
    CODE(CONSTRAINT_CHECK, "constraint_check"), CODE(CONSTRAINT_COMMITHOOK, "constraint_commit_hook"),
    CODE(CONSTRAINT_FOREIGNKEY, "constraint_foreign_key"), CODE(CONSTRAINT_FUNCTION, "constraint_function"),
    CODE(CONSTRAINT_NOTNULL, "constraint_not_null"), CODE(CONSTRAINT_PRIMARYKEY, "constraint_primary_key"),
    CODE(CONSTRAINT_TRIGGER, "constraint_trigger"), CODE(CONSTRAINT_UNIQUE, "constraint_unique"),
    CODE(CONSTRAINT_VTAB, "constraint_vtab"), CODE(CONSTRAINT_ROWID, "constraint_rowid"),
    CODE(CONSTRAINT_PINNED, "constraint_pinned"), CODE(CONSTRAINT_DATATYPE, "constraint_datatype"),
    CODE(IOERR_READ, "ioerr"), CODE(IOERR_SHORT_READ, "ioerr"), CODE(IOERR_WRITE, "ioerr"),
    CODE(IOERR_FSYNC, "ioerr"), CODE(IOERR_DIR_FSYNC, "ioerr"),
    CODE(IOERR_TRUNCATE, "ioerr"), CODE(IOERR_FSTAT, "ioerr"), CODE(IOERR_UNLOCK, "ioerr"),
    CODE(IOERR_RDLOCK, "ioerr"), CODE(IOERR_DELETE, "ioerr"), CODE(IOERR_NOMEM, "ioerr"),
    CODE(IOERR_ACCESS, "ioerr"), CODE(IOERR_CHECKRESERVEDLOCK, "ioerr"),
    CODE(IOERR_LOCK, "ioerr"), CODE(IOERR_CLOSE, "ioerr"), CODE(IOERR_SHMOPEN, "ioerr"),
    CODE(IOERR_SHMSIZE, "ioerr"), CODE(IOERR_SHMLOCK, "ioerr"), CODE(IOERR_SHMMAP, "ioerr"),
    CODE(IOERR_SEEK, "ioerr"), CODE(IOERR_DELETE_NOENT, "ioerr"), CODE(IOERR_MMAP, "ioerr"),
    CODE(IOERR_GETTEMPPATH, "ioerr"), CODE(IOERR_VNODE, "ioerr"), CODE(IOERR_AUTH, "ioerr"),
    CODE(IOERR_DATA, "ioerr"), CODE(IOERR_CORRUPTFS, "ioerr"),
};

/* Returns the entry for the code, or the one for its primary code if the code is unknown. */
static const result_code *find_code(int code) {
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        if (codes[i].code == code) return &codes[i];
    }
    return code == (code & 0xFF) ? &codes[0] : find_code(code & 0xFF);
}

const char *pdb_sqlite_kind(int code) { return find_code(code)->kind; }
const char *pdb_sqlite_name(int code) { return find_code(code)->name; }

static void set_integer(lua_State *L, const char *field, lua_Integer value) {
    lua_pushinteger(L, value);
    plua_set_error_field(L, field);
}

/* Sets the fields for the table and columns from a message like "UNIQUE constraint failed: book.title, book.year". The message of a CHECK
** names an expression instead. */
static void set_columns(lua_State *L, const char *message) {
    const char *names = strstr(message, "constraint failed: ");
    bool has_columns = strncmp(message, "UNIQUE ", 7) == 0 || strncmp(message, "NOT NULL ", 9) == 0;
    if (names == NULL || !has_columns) return;
    names += strlen("constraint failed: ");
    const char *dot = strchr(names, '.');
    if (dot == NULL || strncmp(names, "index ", 6) == 0) return;
    size_t table_length = (size_t)(dot - names);
    lua_pushlstring(L, names, table_length);
    plua_set_error_field(L, "table");
    lua_newtable(L);
    for (lua_Integer i = 1; names; i++) {
        const char *next = strstr(names, ", ");
        size_t length = next ? (size_t)(next - names) : strlen(names);
        if (length > table_length + 1 && names[table_length] == '.') {
            lua_pushlstring(L, names + table_length + 1, length - table_length - 1);
            lua_rawseti(L, -2, i);
        }
        names = next ? next + 2 : NULL;
    }
    plua_set_error_field(L, "columns");
}

const char *pdb_readonly_reason(int extended_code) {
    switch (extended_code) {
        case SQLITE_READONLY_ROLLBACK:
            return "a program ended while writing to the database, and a read-only connection cannot recover it; open it once "
                   "for writing";
        case SQLITE_READONLY_RECOVERY:
        case SQLITE_READONLY_CANTINIT:
        case SQLITE_READONLY_CANTLOCK:
            return "the database has a write-ahead log, which can be read only with write access to the files next to it (-wal, "
                   "-shm); open it once for writing, or grant write access to its folder";
        default: return NULL;
    }
}

/* Returns advice to append to a message about a history trigger, or NULL. lib/perilune/schema/history_tables.lua names these triggers,
** which refer to all columns of their table. */
static const char *history_cure(const char *message) {
    static const char beginning[] = "error in trigger ";
    static const char *const endings[] = {"_history_insert", "_history_update", "_history_delete", "_history_rename"};
    if (message == NULL || strncmp(message, beginning, sizeof beginning - 1) != 0) return NULL;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        const char *found = strstr(message, endings[i]);
        if (found && strchr(" :", found[strlen(endings[i])])) {
            return "; the trigger keeps a history, which follows what db:alter_table does to its table, as in "
                   "db:alter_table(\"book\", function(t) t:drop_column(\"pages\") end)";
        }
    }
    return NULL;
}

void pdb_push_sqlite_error(lua_State *L, int code, const char *message, const char *sql, int offset) {
    const result_code *known = find_code(code);
    luaL_checkstack(L, LUA_MINSTACK, NULL);
    /* The message may belong to another call on the connection, because SQLite keeps only the last one. */
    if (pdb_readonly_reason(code)) message = pdb_readonly_reason(code);
    bool has_message = message && *message && strcmp(message, "not an error") != 0;
    const char *cure = history_cure(message);
    plua_push_error(L, known->kind, "%s%s", has_message ? message : sqlite3_errstr(code), cure ? cure : "");
    lua_pushstring(L, known->name);
    plua_set_error_field(L, "name");
    set_integer(L, "code", code & 0xFF);
    set_integer(L, "extended_code", code);
    if (sql) {
        lua_pushstring(L, sql);
        plua_set_error_field(L, "sql");
    }
    if (offset >= 0) set_integer(L, "offset", offset + 1);
    if ((code & 0xFF) == SQLITE_CONSTRAINT && message) set_columns(L, message);
}
