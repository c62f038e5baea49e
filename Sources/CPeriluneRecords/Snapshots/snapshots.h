/*
** Chunks: the values of records at the time when they last equaled their rows, for change tracking.
**
** A chunk is a block of bytes shared by several records. Numbers and short strings are copied into it, so that the collector has nothing to
** traverse. Long strings are in a list, which is the chunk's user value. Packed values are added at the start of the block, and their
** entries at its end. A record finds its entry by its own address. If a new table has the address of a collected one, it does not find the
** old entry: it has another metatable, or a newer entry.
*/
#ifndef PERILUNE_SNAPSHOTS_H
#define PERILUNE_SNAPSHOTS_H

#include "CPeriluneRecords/Model/mask.h"
#include "CPeriluneRecords/Model/model.h"

typedef struct prec_chunk prec_chunk;

struct prec_chunk {
    size_t capacity, used; /* in bytes; the capacity is a multiple of the size of an entry */
    lua_Integer long_count;
    int count;       /* the number of entries */
    int found;       /* the number of the entry found last; -1 if an entry was added since */
    bool is_packing; /* a record is being written after the used part */
    _Alignas(void *) char bytes[];
};

typedef struct {
    const void *record;
    uint32_t start, size;
} prec_snapshot_entry;

enum { TAG_NULL, TAG_INTEGER, TAG_NUMBER, TAG_FALSE, TAG_TRUE, TAG_SHORT, TAG_LONG, TAG_SHORT_BLOB, TAG_LONG_BLOB };

enum { prec_longest_short = 64, prec_largest_value = prec_longest_short + 2 };

/* Returns the entry with this number; 0 is the oldest. */
static inline prec_snapshot_entry *prec_chunk_entry(prec_chunk *chunk, int number) {
    return (prec_snapshot_entry *)(void *)(chunk->bytes + chunk->capacity) - number - 1;
}

/* Returns the maximum number of bytes that a record with `count` columns needs. */
static inline size_t prec_most_packed(int count) {
    return sizeof(prec_snapshot_entry) + (size_t)count * prec_largest_value;
}

/* MARK: - Packing */

/* A position in a chunk, at which the next value of a record is packed. */
typedef struct {
    prec_chunk *chunk;
    char *next;
    int index; /* the stack index of the chunk */
} prec_packer;

/* Begins to pack a record. Returns false if the chunk may not have enough space or is being written. */
static inline bool prec_begin_packing(prec_packer *packer, prec_chunk *chunk, int index, int count) {
    size_t left = chunk->capacity - chunk->used - (size_t)chunk->count * sizeof(prec_snapshot_entry);
    if (chunk->is_packing || left < prec_most_packed(count)) return false;
    chunk->is_packing = true;
    *packer = (prec_packer){chunk, chunk->bytes + chunk->used, index};
    return true;
}

static inline void prec_pack_null(prec_packer *packer) { *packer->next++ = TAG_NULL; }

static inline void prec_pack_word(prec_packer *packer, char tag, const void *word) {
    *packer->next = tag;
    memcpy(packer->next + 1, word, 8);
    packer->next += 9;
}

static inline void prec_pack_integer(prec_packer *packer, lua_Integer value) {
    prec_pack_word(packer, TAG_INTEGER, &value);
}

static inline void prec_pack_number(prec_packer *packer, lua_Number value) {
    prec_pack_word(packer, TAG_NUMBER, &value);
}

static inline void prec_pack_boolean(prec_packer *packer, bool value) { *packer->next++ = value ? TAG_TRUE : TAG_FALSE; }

/* Packs the long string on top of the stack, and adds it to the list of the chunk. [-0, +0, m] */
void prec_pack_long(lua_State *L, prec_packer *packer, char tag);

/* Packs the string or blob on top of the stack. [-0, +0, m] */
static inline void prec_pack_bytes(lua_State *L, prec_packer *packer, const char *bytes, size_t length, bool is_blob) {
    if (length > prec_longest_short) {
        prec_pack_long(L, packer, is_blob ? TAG_LONG_BLOB : TAG_LONG);
        return;
    }
    *packer->next++ = is_blob ? TAG_SHORT_BLOB : TAG_SHORT;
    *packer->next++ = (char)length;
    memcpy(packer->next, bytes, length);
    packer->next += length;
}

/* Packs the string on top of the stack. [-0, +0, m] */
static inline void prec_pack_string(lua_State *L, prec_packer *packer, const char *bytes, size_t length) {
    prec_pack_bytes(L, packer, bytes, length, false);
}

/* Packs the value on top of the stack, whose type is given. Returns false for values that the database cannot store. [-0, +0, m] */
static inline bool prec_pack_value(lua_State *L, prec_packer *packer, int type) {
    switch (type) {
        case LUA_TNIL: prec_pack_null(packer); return true;
        case LUA_TBOOLEAN: prec_pack_boolean(packer, lua_toboolean(L, -1)); return true;
        case LUA_TNUMBER:
            if (lua_isinteger(L, -1)) prec_pack_integer(packer, lua_tointeger(L, -1));
            else prec_pack_number(packer, lua_tonumber(L, -1));
            return true;
        case LUA_TSTRING: {
            size_t length;
            const char *bytes = lua_tolstring(L, -1, &length);
            prec_pack_string(L, packer, bytes, length);
            return true;
        }
        default: return false;
    }
}

/* Ends the packing of a record, and adds its entry. */
static inline void prec_end_packing(prec_packer *packer, const void *record) {
    prec_chunk *chunk = packer->chunk;
    prec_snapshot_entry *entry = prec_chunk_entry(chunk, chunk->count++);
    size_t end = (size_t)(packer->next - chunk->bytes);
    *entry = (prec_snapshot_entry){record, (uint32_t)chunk->used, (uint32_t)(end - chunk->used)};
    chunk->used = end;
    chunk->found = -1;
    chunk->is_packing = false;
}

/* Discards the packed values of the current record. */
static inline void prec_drop_packing(prec_packer *packer) { packer->chunk->is_packing = false; }

/* MARK: - Chunks */

enum { prec_first_chunk = 512, prec_next_chunk = 4096 };

/* Pushes a metatable for records with the column set at `column_set`, and then its new chunk. The chunk has space for at least one record.
** [-0, +2, m] */
void prec_push_chunk(lua_State *L, int column_set, size_t capacity);

/* Pushes a draft: a chunk without a metatable for `records` records with `count` columns. [-0, +1, m] */
prec_chunk *prec_push_draft(lua_State *L, int records, int count);

/* Empties the draft at `index`. [-0, +0, -] */
void prec_clear_draft(lua_State *L, int index);

/* Pushes a metatable for records with the column set at `column_set`. Its chunk contains a copy of the draft at `index`. [-0, +1, m] */
void prec_push_metatable_of_draft(lua_State *L, int column_set, int index);

/* Pushes the metatable with the open chunk for single records with the column set at `column_set`, and that chunk; begins to pack a record.
** [-0, +2, m] */
void prec_push_open_chunk(lua_State *L, int column_set, prec_packer *packer);

/* MARK: - Differences */

/* Returns whether the record has an entry. [-0, +0, -] */
bool prec_has_snapshot(lua_State *L, int record);

/* The new entry of a record, to be applied after its row has been written. */
typedef struct {
    prec_snapshot_entry *entry;
    int chunk; /* a stack index */
    size_t size;
    bool is_whole; /* `bytes` has space for the whole entry */
    char bytes[1024];
} prec_patch;

/* Marks the columns in which the record differs from its row, and pushes its chunk. Returns false, with any number of values pushed, if the
** record has no snapshot or the Lua part must compare the values. [-0, +n, m] */
bool prec_mark_changed(lua_State *L, int record, const prec_column_set *column_set, int layout_index, prec_mask *mask, prec_patch *patch);

/* Returns whether the values at `values` are certain not to change the key of the record's row: each key value is the same or missing, or
** the record has no snapshot. `layout_index` is the stack index of the table layout `layout`. [-0, +0, -] */
bool prec_keeps_key(lua_State *L, int record, int values, const prec_column_set *column_set, const prec_table_layout *layout, int layout_index);

/* Makes the record's entry equal to its written row. Returns false and changes nothing if the entry has too little space. [-0, +0, -] */
bool prec_apply_patch(lua_State *L, const prec_patch *patch);

/* Converts the value on top of the stack to the form in which the column stores it: nil for NULL, and the bytes of a blob unless the column
** keeps blobs. [-1, +1, e] */
void prec_make_plain(lua_State *L, const prec_record_column *column);

/* Packs the plain values at stack indices from `first` on as the snapshot of a record. Leaves values on the stack. [-0, +n, m] */
void prec_keep_values(lua_State *L, int column_set, int record, int first);

/* MARK: - Snapshots of records */

/* Stores the values in the table at `values` as the snapshot of the record at `record` with the column set at `column_set`.
** [-0, +0, e] */
void prec_take_snapshot(lua_State *L, int column_set, int record, int values);

/* Copies the snapshot of a record to another one with the same column set. [-0, +0, m] */
void prec_copy_snapshot(lua_State *L, int column_set, int record, int copy);

/* Copies the fields and recorded NULLs of a record to the empty table at `copy`. The indices must be absolute. [-0, +0, m] */
void prec_copy_fields(lua_State *L, int record, int copy);

/* Restores exactly the fields and recorded NULLs of a record from a copy. The indices must be absolute. [-0, +0, m] */
void prec_restore_fields(lua_State *L, int record, int copy);

/* Functions that the Lua part calls and documents. */
extern const luaL_Reg prec_snapshot_functions[];

#endif
