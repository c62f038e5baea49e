/*
** Records: Lua tables whose fields are the columns of a row.
**
** - A model is the permanent data of a record class.
** - A table layout describes the table of a class in one database: its columns, and the statements that read and write it. The Lua
**   part creates it from the schema, on first use and after schema changes.
** - A column set is shared by all records with the same columns: usually all columns of the table. A query in a script may
**   omit some columns, or add others, which become fields that are never written.
** - A row layout describes how the rows of a statement become records: a tree of segments.
** - A chunk stores the values of some records at the time when they last equaled their rows.
**
** All of these are userdata that scripts cannot access. The metatable of a record contains its column set and, at index 1, its chunk, if
** any. Records that were fetched together share a metatable, and their fields contain nothing hidden.
*/
#ifndef PERILUNE_MODEL_H
#define PERILUNE_MODEL_H

#include "CPeriluneRecords/Model/callbacks.h"
#include "CPeriluneRows/Queries/queries.h"

/* MARK: - The state */

/* The write of a record that is currently running, for the explanation of constraint errors. */
typedef struct {
    lua_State *L;
    pdb_statement *statement; /* or NULL */
    int record, layout_index;         /* indices on the stack of L */
} prec_pending_write;

/* The data of records in one Lua state. */
typedef struct {
    /* Addresses of metatables, by which userdata of this library are recognized. */
    const void *model_metatable, *table_layout_metatable, *column_set_metatable, *row_layout_metatable, *write_metatable;
    prec_pending_write written;
    bool has_nulls;         /* perilune.null was assigned to a field of some record */
    bool has_type_mismatch; /* a record has a value that the type of its column does not allow */
} prec_state;

static inline prec_state *prec_state_of(const pdb_state *rows) { return rows->records; }

/* Returns the contents of a userdata of the given kind, or NULL for other values. Never fails. */
#define prec_to_userdata(L, index, kind) pdb_to_userdata(L, index, prec_state_of(pdb_state_of(L))->kind##_metatable)

/* Creates the data of records in a state, and the metatables. [-0, +0, m] */
void prec_open_models(lua_State *L);

/* MARK: - Models */

enum { prec_known_bits = 6 };

typedef struct prec_model {
    struct prec_model *base; /* of the extended class, or NULL */
    bool tracks_changes;
    bool writes_in_lua; /* has hooks or converted columns: every write is done by the Lua part */
    bool decodes_in_lua; /* every fetched record is passed to the Lua part */
    bool reads_in_lua; /* has computed or lazy fields: every read of a missing field is done by the Lua part */
    bool has_parents;    /* MODEL_PARENTS is not empty */
    bool is_described;  /* a table has been read, so the flags above are known */
    bool has_differing_columns; /* some names in MODEL_KNOWN are columns only in some databases */
    bool has_known;     /* `known` is filled */
    const void *known[1 << prec_known_bits]; /* the addresses of names in MODEL_KNOWN, at positions computed from the addresses; see
                                             ** making.c */
} prec_model;

/* User values. */
enum {
    MODEL_CLASS = 1,
    MODEL_MEMBERS, /* the methods defined on the class by scripts */
    MODEL_KNOWN,   /* name -> true: columns in any database, and fields declared by the class */
    MODEL_TABLE_LAYOUTS,   /* database id -> table layout */
    MODEL_BASE,
    MODEL_LATEST,  /* the table layout used last, or nil */
    MODEL_METHOD_CACHE,   /* the __index of records: methods and verbs that have been used; its own __index finds others */
    MODEL_PARENTS, /* the names of the belongs_to associations that the class itself defines */
    MODEL_VALUES = MODEL_PARENTS,
};

/* Returns whether a record has a field with the name of a belongs_to association. A script may have assigned it, so the Lua part must
** compare it with the columns before writing. `column_set` is the stack index of the record's column set. [-0, +0, -] */
bool prec_has_parent(lua_State *L, int record, int column_set);

/* Returns the model of the class at `index`, or NULL. prec_push_model also pushes its userdata, unless it returns NULL. [-0, +(0|1), -] */
prec_model *prec_model_at(lua_State *L, int index);
prec_model *prec_push_model(lua_State *L, int index);

/* Return whether the class, or one that it extends, has the flag. */
static inline bool prec_writes_in_lua(const prec_model *model) {
    while (model && !model->writes_in_lua) model = model->base;
    return model != NULL;
}

static inline bool prec_decodes_in_lua(const prec_model *model) {
    while (model && !model->decodes_in_lua) model = model->base;
    return model != NULL;
}

static inline bool prec_reads_in_lua(const prec_model *model) {
    while (model && !model->reads_in_lua) model = model->base;
    return model != NULL;
}

/* Returns the model at `index`; raises for other values. [-0, +0, v] */
prec_model *prec_check_model(lua_State *L, int index);

/* MARK: - Table layouts */

/* The values that a column stores, by its declared type. The Lua part checks values that may not match. */
typedef enum { HOLDS_ANYTHING, HOLDS_INTEGERS, HOLDS_FLOATS, HOLDS_NUMBERS, HOLDS_TEXTS } prec_holds;

typedef struct {
    bool is_blob;      /* strings are bound as blobs */
    bool keeps_blobs;  /* fields contain blobs, because the declared type does not distinguish BLOBs from text */
    bool is_boolean;   /* contains only booleans */
    bool is_date;      /* fields are dates */
    bool is_generated; /* never written */
    bool has_default;  /* other than NULL */
    bool is_key;
    bool is_real;      /* whole numbers are floats, even if RETURNING returns them as integers */
    prec_holds holds;
} prec_record_column;

typedef struct {
    prec_model *model;
    uint64_t database;  /* the id of the database */
    int64_t generation; /* the schema generation for which it is valid */
    int column_count;   /* all columns of SELECT * */
    int key_count;
    int *keys;  /* positions, from 0 */
    int rowid;  /* the position of the row id column, or -1 */
    bool has_dates;
    bool is_batched; /* a statement may insert many rows */
    bool is_view; /* triggers make the changes, so it is unknown whether a row was changed */
    bool has_generated;
    prec_record_column columns[];
} prec_table_layout;

enum {
    TABLE_LAYOUT_MODEL = 1,
    TABLE_LAYOUT_NAMES,     /* list */
    TABLE_LAYOUT_POSITIONS, /* name, as spelled and in lowercase -> position, from 1 */
    TABLE_LAYOUT_SCHEMA,    /* the description from which Lua created it */
    TABLE_LAYOUT_COLUMN_SET,     /* of records with all columns */
    TABLE_LAYOUT_COLUMN_SETS,    /* list of names as one string -> column set */
    TABLE_LAYOUT_WRITES,    /* kind and columns as one string -> write */
    TABLE_LAYOUT_LAST_INSERT, /* the two writes used last */
    TABLE_LAYOUT_OTHER_INSERT,
    TABLE_LAYOUT_LAST_UPDATE,
    TABLE_LAYOUT_OTHER_UPDATE,
    TABLE_LAYOUT_FIND_SQL, /* each followed by its compiled statement */
    TABLE_LAYOUT_FIND,
    TABLE_LAYOUT_DELETE_SQL,
    TABLE_LAYOUT_DELETE,
    TABLE_LAYOUT_EXISTS_SQL,
    TABLE_LAYOUT_EXISTS,
    TABLE_LAYOUT_VALUES = TABLE_LAYOUT_EXISTS,
};

/* Pushes the table layout of the model at `model_index` for a database. Pushes nothing and returns NULL without a valid one.
** [-0, +(0|1), -] */
prec_table_layout *prec_push_known_table_layout(lua_State *L, int model_index, const pdb_database *database);

/* Pushes the table layout of the model at `model_index` for the database of an access. Creates a new one if the schema has changed.
** [-0, +1, e] */
prec_table_layout *prec_push_table_layout(lua_State *L, int model_index, pdb_access *access);

/* Pushes the compiled statement for the SQL in the user value `sql_value` of the userdata at `holder`. The user value `kept_value` stores
** the statement. [-0, +1, e] */
pdb_statement *prec_compile_kept(lua_State *L, pdb_access *access, int holder, int sql_value, int kept_value);

/* MARK: - Column sets */

typedef struct {
    prec_table_layout *layout;
    bool has_all; /* the columns are exactly those of the table layout, in order */
    size_t next_capacity; /* the capacity of the next chunk for single records */
    int count;    /* the number of its columns that are in the table layout */
    int order[];  /* the positions of these columns in the table layout, from 0, in the order of chunks */
} prec_column_set;

enum {
    COLUMN_SET_LAYOUT = 1,
    COLUMN_SET_NAMES,     /* list of all fields in order, including those that are not table columns */
    COLUMN_SET_METATABLE, /* of records without a chunk */
    COLUMN_SET_OPEN,      /* the metatable with the open chunk for single records, or nil */
    COLUMN_SET_EXTRAS,    /* name -> true for fields that are not table columns, or nil */
    COLUMN_SET_VALUES = COLUMN_SET_EXTRAS,
};

/* Pushes and returns the column set of the record at `index`. Pushes nothing and returns NULL if the value is not a record.
** prec_column_set_at pushes nothing. [-0, +(0|1), -] */
prec_column_set *prec_push_column_set_of(lua_State *L, int index);
prec_column_set *prec_column_set_at(lua_State *L, int index);

/* Pops a list of names and pushes a new column set for the table layout at `layout_index`. `extras` is the stack index of a table, or 0.
** [-1, +1, m] */
prec_column_set *prec_make_column_set(lua_State *L, int layout_index, const int *order, int count, int extras);

/* Pushes a record of the model at `model` with the fields of the table at `values`, for a database, or the current one if `database` is
** NULL. Pushes nothing and returns false if the Lua part is needed, because a name is unknown or there is no valid table layout.
** [-0, +(0|1), m] */
bool prec_push_made(lua_State *L, int model, const pdb_database *database, int values);

/* Returns whether the value at `index` is a table without a metatable and without an element 1, so that its keys are names of fields.
** [-0, +0, -] */
bool prec_are_fields(lua_State *L, int index);

/* Pushes an empty method cache for records of the model at `model`; methods are added on first use. [-0, +1, m] */
void prec_push_method_cache(lua_State *L, int model);

/* Pushes the model of the column set at `column_set`. [-0, +1, -] */
void prec_push_model_of(lua_State *L, int column_set);

/* Pushes the table of the methods of all records. [-0, +1, -] */
void prec_push_record_verbs(lua_State *L);

/* Copies the entries of a table to another one, without metamethods. The indices must be absolute. [-0, +0, m] */
void prec_copy_entries(lua_State *L, int table, int copy);

/* Pushes the column set of the record at `index` and returns the column set's index. Raises if the value is not a record. [-0, +1, v] */
int prec_check_record(lua_State *L, int index);

/* __index for missing fields, and __newindex. Both have the model and the extras (or nil) as upvalues. [-n, +(0|1), e] */
int prec_missing_field(lua_State *L);
int prec_assign_field(lua_State *L);

extern const luaL_Reg prec_record_metamethods[], prec_column_set_functions[], prec_making_functions[];

/* MARK: - Fields to be written as NULL */

/* Records that the field whose name is on top of the stack must be written as NULL, although it is nil. [-1, +0, m] */
void prec_note_null(lua_State *L, int record);

/* Pushes the set of recorded names. Pushes nothing and returns false if none are recorded. [-0, +(0|1), -] */
bool prec_push_nulls(lua_State *L, int record);

/* Returns whether the name at `name` is in the set at `nulls`. [-0, +0, -] */
bool prec_is_noted(lua_State *L, int nulls, int name);

/* Copies the recorded names from one record to another. [-0, +0, m] */
void prec_copy_nulls(lua_State *L, int record, int copy);

/* Clears the recorded names, because the row contains the NULLs. [-0, +0, m] */
void prec_forget_nulls(lua_State *L, int record);

extern const luaL_Reg prec_null_functions[];

/* Registry keys. */
extern const char prec_table_layout_metatable_key, prec_column_set_metatable_key, prec_row_layout_metatable_key,
    prec_write_metatable_key;

/* Functions that the Lua part calls and documents. */
extern const luaL_Reg prec_model_functions[], prec_table_layout_functions[];

#endif
