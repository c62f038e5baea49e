/* What Swift sees in SQL text: PeriluneRecords has the one scanner. */
#ifndef PERILUNE_SQL_H
#define PERILUNE_SQL_H

#include <stdbool.h>
#include <stddef.h>

/* What a statement may need that not every access allows. */
typedef enum {
    PDB_KEYWORD_OTHER,
    PDB_KEYWORD_READ,      /* SELECT, VALUES, WITH, EXPLAIN: may be stepped here if SQLite says that it only reads */
    PDB_KEYWORD_INSERT,    /* INSERT, REPLACE */
    PDB_KEYWORD_CHANGE,    /* UPDATE, DELETE */
    PDB_KEYWORD_CONTROL,   /* BEGIN, COMMIT, END, ROLLBACK, SAVEPOINT, RELEASE */
    PDB_KEYWORD_FILES,     /* ATTACH, DETACH, VACUUM INTO, PRAGMA temp_store_directory */
    PDB_KEYWORD_FORBIDDEN, /* PRAGMA query_only = ..., writable_schema = ... */
    PDB_KEYWORD_MEMORY,    /* PRAGMA temp_store: temporary tables in memory, which no limit would see */
    PDB_KEYWORD_FUNCTIONS, /* PRAGMA case_sensitive_like: SQLite's own LIKE, which no limit ends */
    PDB_KEYWORD_EMPTY,     /* nothing but blanks, comments and semicolons */
} pdb_keyword;

typedef struct {
    pdb_keyword keyword;
    char word[32];     /* the first word, upper case, and the name of a PRAGMA: for messages */
    bool is_temporary; /* CREATE TEMP: readers of a pool would not see it */
    bool wants_writer; /* its result depends on the connection */
    bool reads_rowid;  /* it asks for last_insert_rowid() */
    bool tells_files;  /* it asks pragma_database_list where the files of databases are */
    bool opens_file;   /* ATTACH of anything but ':memory:', VACUUM INTO: not in a preview, even if files are granted */
} pdb_screening;

/* What a statement does with a savepoint. */
typedef enum { PDB_NO_SAVEPOINT, PDB_SAVEPOINT_BEGIN, PDB_SAVEPOINT_RELEASE, PDB_SAVEPOINT_ROLL_BACK } pdb_savepoint_command;

/* None of these raises. */
typedef struct {
    /* Looks at the first statement of a text, before SQLite compiles it. */
    void (*screen)(const char *sql, size_t length, pdb_screening *screening);
    /* Whether a text has statements that insert, update or delete, and none that cannot be in a transaction with them. */
    bool (*changes_rows)(const char *sql, size_t length);
    /* What a statement that SQLite has compiled does with a savepoint. The name is to be freed. */
    pdb_savepoint_command (*savepoint)(const char *sql, char **name);
    /* Whether columns of a declared type hold true or false. */
    bool (*is_boolean)(const char *declared_type);
    /* Whether columns of a declared type hold floats in place of integers. */
    bool (*is_real)(const char *declared_type);
    /* The position of the name that was meant, among `count` names; -1 if none is near. */
    int (*nearest)(const char *name, const char *const *names, int count);
} pdb_sql_callbacks;

#endif
