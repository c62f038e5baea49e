/* What a text of SQL is, before SQLite has seen it. */
#ifndef PERILUNE_SQL_INTERNAL_H
#define PERILUNE_SQL_INTERNAL_H

#include <stdlib.h>
#include <string.h>

#include <perilune_sql.h>
#include <perilune_state.h>

/* What a statement may need that not every access allows. */
typedef enum {
    PDB_KEYWORD_OTHER,
    PDB_KEYWORD_READ,    /* SELECT, VALUES, WITH, EXPLAIN: may be stepped here if SQLite says that it only reads */
    PDB_KEYWORD_INSERT,  /* INSERT, REPLACE */
    PDB_KEYWORD_CHANGE,  /* UPDATE, DELETE */
    PDB_KEYWORD_CONTROL, /* BEGIN, COMMIT, END, ROLLBACK, SAVEPOINT, RELEASE */
    PDB_KEYWORD_FILES,   /* ATTACH, DETACH, VACUUM INTO, PRAGMA temp_store_directory */
    PDB_KEYWORD_FORBIDDEN, /* PRAGMA query_only = ..., writable_schema = ... */
    PDB_KEYWORD_MEMORY,  /* PRAGMA temp_store: temporary tables in memory, which no limit would see */
    PDB_KEYWORD_EMPTY,   /* nothing but blanks, comments and semicolons */
} pdb_keyword;

typedef struct {
    pdb_keyword keyword;
    char word[32];    /* the first word, upper case, and the name of a PRAGMA: for messages */
    bool is_temporary; /* CREATE TEMP: readers of a pool would not see it */
    bool wants_writer; /* its result depends on the connection */
    bool reads_rowid;  /* it asks for last_insert_rowid() */
    bool opens_file;   /* ATTACH of anything but ':memory:', VACUUM INTO: not in a preview, even if files are granted */
} pdb_screening;

pdb_screening pdb_screen(const char *sql, size_t length);

/* Whether only blanks, comments and semicolons are left. */
bool pdb_is_blank(const char *sql, size_t length);

/* Whether the text has statements that insert, update or delete, and none that cannot be in a transaction with them. */
bool pdb_changes_rows(const char *sql, size_t length);

/* Whether the bytes are valid UTF-8. */
bool pdb_is_utf8(const char *bytes, size_t length);

/* The name among candidates (keys of the table at `index` that are strings) nearest to a misspelt one, or NULL. */
const char *pdb_nearest(lua_State *L, int index, const char *name);

#endif
