/*
** Records: tables of Lua whose fields are the columns of a row.
**
** - A model is what belongs to a class of records for good.
** - A plan is what a class knows of its table in one database: its columns, and the statements that read and write it. It is made
**   by the Lua part from the schema, when it is first needed and when the schema has changed.
** - A shape is what records were made of that came from the same columns: all of the table's, as a rule; a query of the script may
**   leave some out, or add others, which are fields too, but are never written.
** - A layout is how the rows of a statement become records: a tree of segments.
** - A chunk keeps what some records were when they were last the same as their rows.
**
** All are userdata that scripts never see. The metatable of a record has its shape, and at 1 the chunk that it is in, if any:
** records that were fetched one after the other share a metatable, and nothing hidden is among their fields.
*/
#ifndef PERILUNE_RECORDS_H
#define PERILUNE_RECORDS_H

#include "CPeriluneRecords/Model/callbacks.h"
#include "CPeriluneRows/rows_internal.h"

struct pdb_call;

/* MARK: - Models */

typedef struct prec_model {
    struct prec_model *base; /* of the class that this one extends, or NULL */
    bool tracks_changes;
    bool writes_in_lua; /* hooks or converted columns: the Lua part must see every write */
    bool decodes_in_lua; /* the Lua part must see every record that was fetched */
    bool is_described;  /* a table has been read: the flags are known */
} prec_model;

/* User values. */
enum {
    MODEL_CLASS = 1,
    MODEL_MEMBERS, /* the methods that scripts have defined on the class */
    MODEL_KNOWN,   /* name -> true: columns of any database, and fields that the class declares */
    MODEL_PLANS,   /* id of the database -> plan */
    MODEL_BASE,
    MODEL_LATEST,  /* the plan that was used last, or nil */
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

/* The model that is the userdata at `index`; raises if it is none. */
prec_model *prec_check_model(lua_State *L, int index);

/* MARK: - Plans */

typedef struct {
    bool is_blob;      /* strings are bound as blobs */
    bool is_boolean;   /* holds booleans and nothing else */
    bool is_date;      /* fields are dates */
    bool is_generated; /* never written */
    bool has_default;  /* other than NULL */
    bool is_key;
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
} prec_plan;

enum {
    PLAN_MODEL = 1,
    PLAN_NAMES,     /* list */
    PLAN_POSITIONS, /* name, as it is and in lower case -> position, from 1 */
    PLAN_SCHEMA,    /* what the Lua part has made it from */
    PLAN_SHAPE,     /* of records that have all columns */
    PLAN_SHAPES,    /* list of names as one string -> shape */
    PLAN_WRITES,    /* kind and columns as one string -> write */
    PLAN_LAST_INSERT, /* the two writes that were used last */
    PLAN_OTHER_INSERT,
    PLAN_LAST_UPDATE,
    PLAN_OTHER_UPDATE,
    PLAN_FIND_SQL, /* each followed by its compiled statement */
    PLAN_FIND,
    PLAN_DELETE_SQL,
    PLAN_DELETE,
    PLAN_EXISTS_SQL,
    PLAN_EXISTS,
    PLAN_VALUES = PLAN_EXISTS,
};

/* Pushes the plan of the model at `index` for the database of an access, made anew if the schema has changed. [-0, +1] */
prec_plan *prec_push_plan(lua_State *L, int model_index, pdb_access *access);

/* Pushes the compiled statement for a text that is a user value of the userdata at `holder`, which keeps it as another. [-0, +1] */
pdb_statement *prec_compile_kept(lua_State *L, pdb_access *access, int holder, int sql_value, int kept_value);

/* MARK: - Shapes */

typedef struct {
    prec_plan *plan;
    bool has_all; /* the columns of the plan, in their order */
    size_t next_capacity; /* of the next chunk for single records */
    int count;    /* of the columns that it has of the plan */
    int order[];  /* their positions in the plan, from 0, in the order in which chunks keep them */
} prec_shape;

enum {
    SHAPE_PLAN = 1,
    SHAPE_NAMES,     /* list of all fields in their order, those that are no columns of the table too */
    SHAPE_METATABLE, /* of records without a chunk */
    SHAPE_OPEN,      /* the metatable with the chunk to which single records are added, or nil */
    SHAPE_EXTRAS,    /* name -> true for fields that are no columns of the table, or nil */
    SHAPE_VALUES = SHAPE_EXTRAS,
};

/* The shape of the record at `index`, or NULL if the value is none. Pushes it, unless it is NULL. [-0, +(0|1), -] */
prec_shape *prec_push_shape_of(lua_State *L, int index);
prec_shape *prec_shape_at(lua_State *L, int index);

/*
** Where many records are written, what takes most time is that they are not in the processor's cache. These ask for them early: for
** the table itself, and, once that is there, for its fields. The address of the fields is where every Lua 5.4 keeps it; elsewhere
** some other memory would be asked for, which does no harm.
*/
static inline void prec_prefetch_table(const void *table) { __builtin_prefetch(table); }

static inline void prec_prefetch_fields(const void *table) {
    enum { address_of_fields = 24, line = 64, most = 192 };
    const char *fields;
    if (table == NULL) return;
    memcpy(&fields, (const char *)table + address_of_fields, sizeof fields);
    for (int offset = 0; offset < most; offset += line) __builtin_prefetch(fields + offset);
    __builtin_prefetch(fields + most - 1);
}

/* Pushes a new shape for the plan at `plan`: names are in the list on top of the stack, which is popped; `extras` is the index of a
** table or 0. [-1, +1, m] */
prec_shape *prec_make_shape(lua_State *L, int plan, const int *order, int count, int extras);

/* Pushes an empty table for the methods of records of the model at `model`, which finds them when they are asked for. [-0, +1, m] */
void prec_push_method_cache(lua_State *L, int model);

/* Pushes the model of the shape at `shape`. [-0, +1, -] */
void prec_push_model_of(lua_State *L, int shape);

/* Pushes the table of the methods that every record has. [-0, +1, -] */
void prec_push_record_verbs(lua_State *L);

/* Pushes the shape of the record at `index`, which is the next value then; raises if it is none. Returns its index. [-0, +1] */
int prec_check_record(lua_State *L, int index);

/* __index for what is not found, with the model and the extras (or nil) as upvalues; __newindex, with the model. */
int prec_missing_field(lua_State *L);
int prec_assign_field(lua_State *L);

extern const luaL_Reg prec_record_metamethods[], prec_shape_functions[];

/* MARK: - Chunks */

typedef struct prec_chunk prec_chunk;

/* Keeps the values in the table at `values` as those of the record at `record`, of the shape at `shape`. [-0, +0] */
void prec_take_snapshot(lua_State *L, int shape, int record, int values);

/* Gives a record the snapshot of another one, of the same shape. [-0, +0, m] */
void prec_copy_snapshot(lua_State *L, int shape, int record, int copy);

/* For the Lua part: see there. */
int prec_snapshot(lua_State *L);
int prec_knows_row(lua_State *L);
int prec_changed_columns(lua_State *L);
int prec_set_snapshot(lua_State *L);

/* MARK: - Dates */

/* Reads a date in one of the usual forms: YYYY-MM-DD, with a time of day behind it or without, in UTC. Returns false for any
** other. */
bool pdb_parse_date(const char *bytes, size_t length, int64_t *microseconds);

/* [-0, +1, m] */
void pdb_push_date(lua_State *L, int64_t microseconds);

/* MARK: - Layouts */

enum { NOT_IN_PLAN = -1, NOT_TAKEN = -2 };

/* Pushes the key under which a column of a result is kept, and returns its position in the plan, from 0, or one of these.
** `positions` and `names` are the plan's, `taken` a table of keys. [-0, +1, m] */
int prec_push_record_key(lua_State *L, const char *name, int positions, int names, int taken);

/* Pushes the shape for the list of names on top of the stack, which is popped: one that there is, or a new one. [-1, +1, m] */
prec_shape *prec_push_shape_for(lua_State *L, int plan_index, const int *order, int count, int extras);

typedef struct {
    prec_shape *shape;
    int first, count; /* columns of the result, from 0 */
    int parent;       /* the segment whose records hold those of this one; -1 for the root */
    bool is_optional; /* all NULL: there is no record */
    bool tracks_changes;
} prec_segment;

/* Depth first: a parent comes before its children. */
struct prec_layout {
    const void *source; /* the class or the list of segments that it was made for */
    int64_t generation;
    int prepare_count;
    int column_count, segment_count;
    int *positions; /* of each column of the result: in the plan from 0; or NOT_IN_PLAN, for a field; or NOT_TAKEN */
    prec_segment segments[];
};
typedef struct prec_layout prec_layout;

enum {
    LAYOUT_KEYS = 1, /* list: the key of each column of the result; false for nothing */
    LAYOUT_SHAPES,   /* list: by segment */
    LAYOUT_FIELDS,   /* list: by segment, the field of its parent; false for the root */
    LAYOUT_SOURCE,
    LAYOUT_VALUES = LAYOUT_SOURCE,
};

/* Pushes the layout for the rows of the call's statement, which stands on a row or has not run. [-0, +1] */
prec_layout *prec_push_layout(lua_State *L, struct pdb_call *call);

/* A loop that makes records. */
typedef struct {
    prec_layout *layout;
    int layout_index, keys, metatables; /* on the stack; of each segment its metatable and its chunk */
} prec_decoder;

/* Pushes what decoding needs on the stack. [-0, +n, m] */
prec_decoder prec_begin_records(lua_State *L, int layout_index);

/* Pushes the record of the row that the statement stands on. [-0, +1, m] */
void prec_decode(lua_State *L, pdb_statement *statement, prec_decoder *decoder);

/* The same for one record. Returns false, and pushes nothing, if the columns are others than those of the layout. */
bool prec_push_record(lua_State *L, pdb_statement *statement, int layout_index);

/* Raises for a record, or a list of them, on top of the stack that has a value which is none of its column's, unless the class takes
** it: if there may be one, which is known from making them. [-0, +0] */
void prec_raise_type_mismatch(lua_State *L);

static inline void prec_check_types(lua_State *L, const pdb_state *rows) {
    if (rows->has_type_mismatch) prec_raise_type_mismatch(L);
}

/* For the Lua part: see there. */
int prec_record_from(lua_State *L);

/* Raises what is to be said then. */
int prec_raise_stale(lua_State *L, struct pdb_call *call);

/* MARK: - Verbs */

extern const luaL_Reg prec_plan_functions[], prec_record_fetches[], prec_record_writes[], prec_request_functions[],
    prec_prefetch_functions[];

/* The database that a verb is for: that of the handle at `index`, unless it is 0 or nil is there; else that of the innermost
** access; else the default one. Sets the access that is open to it, or NULL. */
pdb_database *pdb_resolve_database(lua_State *L, int index, const char *verb, pdb_access **access);

/* The same where none is named; or NULL. Never fails. */
pdb_database *pdb_implied_database(const pdb_state *rows);

int pdb_default_database(lua_State *L);
int pdb_with_default_database(lua_State *L);

extern const char prec_plan_metatable_key, prec_shape_metatable_key, prec_layout_metatable_key,
    prec_write_metatable_key;

#endif
