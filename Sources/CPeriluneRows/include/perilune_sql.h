/* Results of scanning SQL text, which is implemented in Swift, in PeriluneRecords. */
#ifndef PERILUNE_SQL_H
#define PERILUNE_SQL_H

#include <stdbool.h>
#include <stddef.h>

/* The kinds of statements, as far as accesses treat them differently. */
typedef enum {
    PDB_KEYWORD_OTHER,
    PDB_KEYWORD_READ,      /* SELECT, VALUES, WITH, EXPLAIN: may be stepped here if SQLite reports that it only reads */
    PDB_KEYWORD_INSERT,    /* INSERT, REPLACE */
    PDB_KEYWORD_CHANGE,    /* UPDATE, DELETE */
    PDB_KEYWORD_CONTROL,   /* BEGIN, COMMIT, END, ROLLBACK, SAVEPOINT, RELEASE */
    PDB_KEYWORD_FILES,     /* ATTACH, DETACH, VACUUM INTO, PRAGMA temp_store_directory */
    PDB_KEYWORD_FORBIDDEN, /* PRAGMA query_only = ..., writable_schema = ... */
    PDB_KEYWORD_MEMORY,    /* PRAGMA temp_store: would store temporary tables in memory that no limit counts */
    PDB_KEYWORD_FUNCTIONS, /* PRAGMA case_sensitive_like: would restore SQLite's own LIKE, which cannot be cancelled */
    PDB_KEYWORD_UNENFORCED, /* PRAGMA foreign_keys = OFF, which SQLite ignores in a transaction */
    PDB_KEYWORD_EMPTY,     /* only blanks, comments and semicolons */
} pdb_keyword;

typedef struct {
    pdb_keyword keyword;
    char word[32];     /* the first word in upper case, followed by the name of a PRAGMA, for messages */
    bool is_temporary; /* CREATE TEMP, which readers of a pool would not see */
    bool wants_writer; /* the result depends on the connection */
    bool reads_rowid;  /* calls last_insert_rowid() */
    bool tells_files;  /* reads the paths of databases by pragma_database_list */
    bool opens_file;   /* ATTACH of anything but ':memory:', or VACUUM INTO; refused in previews even if files are granted */
} pdb_screening;

/* The effect of a statement on savepoints. */
typedef enum { PDB_NO_SAVEPOINT, PDB_SAVEPOINT_BEGIN, PDB_SAVEPOINT_RELEASE, PDB_SAVEPOINT_ROLL_BACK } pdb_savepoint_command;

/* SQL functions that are implemented in Swift. They raise nothing. */
typedef struct {
    /* Classifies the first statement of a text before SQLite compiles it. */
    void (*screen)(const char *sql, size_t length, pdb_screening *screening);
    /* Returns whether a text contains statements that insert, update or delete, and none that must not share a transaction with them. */
    bool (*changes_rows)(const char *sql, size_t length);
    /* Returns the effect of a compiled statement on savepoints. The caller frees the name. */
    pdb_savepoint_command (*savepoint)(const char *sql, char **name);
    /* Returns whether columns of a declared type are booleans. */
    bool (*is_boolean)(const char *declared_type);
    /* Returns whether columns of a declared type store integers as floats. */
    bool (*is_real)(const char *declared_type);
    /* Returns the position of the most similar of `count` names, or -1 if none exists. */
    int (*nearest)(const char *name, const char *const *names, int count);
} pdb_sql_callbacks;

#endif
