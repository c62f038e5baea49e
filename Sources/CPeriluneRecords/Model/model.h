/*
** Records: tables of Lua whose fields are the columns of a row.
**
** - A model is what belongs to a class of records for good.
** - A table layout is what a class knows of its table in one database: its columns, and the statements that read and write it. It is made
**   by the Lua part from the schema, when it is first needed and when the schema has changed.
** - A column set is what records were made of that came from the same columns: all of the table's, as a rule; a query of the script may
**   leave some out, or add others, which are fields too, but are never written.
** - A row layout is how the rows of a statement become records: a tree of segments.
** - A chunk keeps what some records were when they were last the same as their rows.
**
** All are userdata that scripts never see. The metatable of a record has its column set, and at 1 the chunk that it is in, if any:
** records that were fetched one after the other share a metatable, and nothing hidden is among their fields.
*/
#ifndef PERILUNE_MODEL_H
#define PERILUNE_MODEL_H

#include "CPeriluneRecords/Model/callbacks.h"
#include "CPeriluneRows/Queries/queries.h"

/* MARK: - The state */

/* The write of a record that runs: what an error of a constraint is explained by. */
typedef struct {
    lua_State *L;
    pdb_statement *statement; /* or NULL */
    int record, layout_index;         /* on its stack */
} prec_pending_write;

/* What belongs to one Lua state. */
typedef struct {
    /* Metatables by address: a userdata is one of ours if its metatable is. */
    const void *model_metatable, *table_layout_metatable, *column_set_metatable, *row_layout_metatable, *write_metatable;
    prec_pending_write written;
    bool has_nulls;         /* some record has been given perilune.null */
    bool has_type_mismatch; /* a record was made with a value that its column's type does not allow */
} prec_state;

static inline prec_state *prec_state_of(const pdb_state *rows) { return rows->records; }

/* The bytes of a userdata of that kind, or NULL. Never fails. */
#define prec_to_userdata(L, index, kind) pdb_to_userdata(L, index, prec_state_of(pdb_state_of(L))->kind##_metatable)

/* Makes it, with the metatables. [-0, +0, m] */
void prec_open_models(lua_State *L);

/* MARK: - Models */

enum { prec_known_bits = 6 };

typedef struct prec_model {
    struct prec_model *base; /* of the class that this one extends, or NULL */
    bool tracks_changes;
    bool writes_in_lua; /* hooks or converted columns: the Lua part must see every write */
    bool decodes_in_lua; /* the Lua part must see every record that was fetched */
    bool reads_in_lua; /* fields that are computed or lazy: the Lua part must see each read of a field that a record does not have */
    bool is_described;  /* a table has been read: the flags are known */
    bool has_differing_columns; /* some name in MODEL_KNOWN is a column in one database and not in another */
    bool has_known;     /* the list that follows is filled */
    const void *known[1 << prec_known_bits]; /* the addresses of names in MODEL_KNOWN, at a place that their address gives: see making.c */
} prec_model;

/* User values. */
enum {
    MODEL_CLASS = 1,
    MODEL_MEMBERS, /* the methods that scripts have defined on the class */
    MODEL_KNOWN,   /* name -> true: columns of any database, and fields that the class declares */
    MODEL_TABLE_LAYOUTS,   /* id of the database -> table layout */
    MODEL_BASE,
    MODEL_LATEST,  /* the table layout that was used last, or nil */
    MODEL_METHOD_CACHE,   /* what records have as __index: methods and verbs that were asked for before; asks for others */
    MODEL_VALUES = MODEL_METHOD_CACHE,
};

/* The model of the class at `index`, or NULL; prec_push_model also pushes its userdata then. [-0, +(0|1), -] */
prec_model *prec_model_at(lua_State *L, int index);
prec_model *prec_push_model(lua_State *L, int index);

/* Whether the class or one that it extends has the flag. */
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

/* The model at `index`; raises if the value is not a model. [-0, +0, v] */
prec_model *prec_check_model(lua_State *L, int index);

/* MARK: - Table layouts */

/* What a column declares to hold. Values that may be others are for the Lua part to check. */
typedef enum { HOLDS_ANYTHING, HOLDS_INTEGERS, HOLDS_FLOATS, HOLDS_NUMBERS, HOLDS_TEXTS } prec_holds;

typedef struct {
    bool is_blob;      /* strings are bound as blobs */
    bool keeps_blobs;  /* fields hold BLOBs as blobs: nothing else tells them from texts */
    bool is_boolean;   /* holds booleans and nothing else */
    bool is_date;      /* fields are dates */
    bool is_generated; /* never written */
    bool has_default;  /* other than NULL */
    bool is_key;
    bool is_real;      /* whole numbers are floats, even if RETURNING has them as integers */
    prec_holds holds;
} prec_record_column;

typedef struct {
    prec_model *model;
    uint64_t database;  /* its id */
    int64_t generation; /* of the schema that it is good for */
    int column_count;   /* all that SELECT * gives */
    int key_count;
    int *keys;  /* positions, from 0 */
    int rowid;  /* the position of the column that is the row id, or -1 */
    bool has_dates;
    bool is_batched; /* many rows may be inserted by one statement */
    bool is_view; /* whether a row was changed is not known: triggers do it */
    bool has_generated;
    prec_record_column columns[];
} prec_table_layout;

enum {
    TABLE_LAYOUT_MODEL = 1,
    TABLE_LAYOUT_NAMES,     /* list */
    TABLE_LAYOUT_POSITIONS, /* name, as spelled and in lower case -> position, from 1 */
    TABLE_LAYOUT_SCHEMA,    /* what the Lua part has made it from */
    TABLE_LAYOUT_COLUMN_SET,     /* of records that have all columns */
    TABLE_LAYOUT_COLUMN_SETS,    /* list of names as one string -> column set */
    TABLE_LAYOUT_WRITES,    /* kind and columns as one string -> write */
    TABLE_LAYOUT_LAST_INSERT, /* the two writes that were used last */
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

/* Pushes the table layout of the model at `model_index` for a database. Returns NULL, and pushes nothing, if there is none, or it may be out
** of date. [-0, +(0|1), -] */
prec_table_layout *prec_push_known_table_layout(lua_State *L, int model_index, const pdb_database *database);

/* Pushes the table layout of the model at `model_index` for the database of an access, made anew if the schema has changed. [-0, +1, e] */
prec_table_layout *prec_push_table_layout(lua_State *L, int model_index, pdb_access *access);

/* Pushes the compiled statement for a text that is a user value of the userdata at `holder`, which keeps it as another.
** [-0, +1, e] */
pdb_statement *prec_compile_kept(lua_State *L, pdb_access *access, int holder, int sql_value, int kept_value);

/* MARK: - Column sets */

typedef struct {
    prec_table_layout *layout;
    bool has_all; /* the columns of the table layout, in their order */
    size_t next_capacity; /* of the next chunk for single records */
    int count;    /* of the columns that it has of the table layout */
    int order[];  /* their positions in the table layout, from 0, in the order in which chunks keep them */
} prec_column_set;

enum {
    COLUMN_SET_LAYOUT = 1,
    COLUMN_SET_NAMES,     /* list of all fields in their order, including those that are not columns of the table */
    COLUMN_SET_METATABLE, /* of records without a chunk */
    COLUMN_SET_OPEN,      /* the metatable with the chunk to which single records are added, or nil */
    COLUMN_SET_EXTRAS,    /* name -> true for fields that are not columns of the table, or nil */
    COLUMN_SET_VALUES = COLUMN_SET_EXTRAS,
};

/* The column set of the record at `index`, or NULL if the value is not a record. Pushes it, unless it is NULL. [-0, +(0|1), -] */
prec_column_set *prec_push_column_set_of(lua_State *L, int index);
prec_column_set *prec_column_set_at(lua_State *L, int index);

/* Pushes a new column set for the table layout at `layout_index`: names are in the list on top of the stack, which is popped; `extras` is the index of a
** table or 0. [-1, +1, m] */
prec_column_set *prec_make_column_set(lua_State *L, int layout_index, const int *order, int count, int extras);

/* Pushes a record of the model at `model` with the fields of the table at `values`. Returns false, and pushes nothing, if that takes the Lua
** part: a name is not known, or the table layout is not that of the database that is used now. [-0, +(0|1), m] */
bool prec_push_made(lua_State *L, int model, int values);

/* Pushes an empty table for the methods of records of the model at `model`, which finds them when they are asked for. [-0, +1, m] */
void prec_push_method_cache(lua_State *L, int model);

/* Pushes the model of the column set at `column_set`. [-0, +1, -] */
void prec_push_model_of(lua_State *L, int column_set);

/* Pushes the table of the methods that every record has. [-0, +1, -] */
void prec_push_record_verbs(lua_State *L);

/* Copies the entries of a table to another one, without metamethods; absolute indices. [-0, +0, m] */
void prec_copy_entries(lua_State *L, int table, int copy);

/* Pushes the column set of the record at `index`, which is the next value then; raises if the value is not a record. Returns its
** index. [-0, +1, v] */
int prec_check_record(lua_State *L, int index);

/* __index for what is not found, with the model and the extras (or nil) as upvalues; __newindex, with the model. [-n, +(0|1), e] */
int prec_missing_field(lua_State *L);
int prec_assign_field(lua_State *L);

extern const luaL_Reg prec_record_metamethods[], prec_column_set_functions[], prec_making_functions[];

/* MARK: - Fields that are to be NULL */

/* Notes that the field whose name is on top of the stack is to be written as NULL, though it is nil. [-1, +0, m] */
void prec_note_null(lua_State *L, int record);

/* Pushes the set of the names that were noted. Returns false, and pushes nothing, if there are none. [-0, +(0|1), -] */
bool prec_push_nulls(lua_State *L, int record);

/* Whether the name at `name` is in the set at `nulls`. [-0, +0, -] */
bool prec_is_noted(lua_State *L, int nulls, int name);

/* Gives a record what was noted for another one. [-0, +0, m] */
void prec_copy_nulls(lua_State *L, int record, int copy);

/* The row of the record holds what was noted. [-0, +0, m] */
void prec_forget_nulls(lua_State *L, int record);

extern const luaL_Reg prec_null_functions[];

/* Keys of the registry. */
extern const char prec_table_layout_metatable_key, prec_column_set_metatable_key, prec_row_layout_metatable_key,
    prec_write_metatable_key;

/* For the Lua part: see there. */
extern const luaL_Reg prec_model_functions[], prec_table_layout_functions[];

#endif
