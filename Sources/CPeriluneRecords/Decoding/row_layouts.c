/* Row layouts: how records use each result column. */
#include "CPeriluneRecords/Decoding/decoding.h"

#include <string.h>

/* MARK: - Roles of columns */

/* Returns the position of a column in the table layout, from 0, or NOT_IN_TABLE. `positions` is the stack index of the layout's table of
** positions. */
static int find_position(lua_State *L, int positions, const char *name) {
    lua_pushstring(L, name);
    if (lua_rawget(L, positions) == LUA_TNIL) {
        lua_pop(L, 1);
        pdb_push_folded(L, name, strlen(name));
        lua_rawget(L, positions);
    }
    int position = lua_isnil(L, -1) ? NOT_IN_TABLE : (int)lua_tointeger(L, -1) - 1;
    lua_pop(L, 1);
    return position;
}

int prec_push_record_key(lua_State *L, const char *name, int positions, int names, int taken) {
    int position = find_position(L, positions, name);
    if (position == NOT_IN_TABLE) lua_pushstring(L, name);
    else lua_rawgeti(L, names, position + 1);
    lua_pushvalue(L, -1);
    if (lua_rawget(L, taken) != LUA_TNIL) {
        lua_pop(L, 2);
        lua_pushboolean(L, false);
        return NOT_TAKEN;
    }
    lua_pop(L, 1);
    lua_pushvalue(L, -1);
    lua_pushboolean(L, true);
    lua_rawset(L, taken);
    return position;
}

prec_column_set *prec_push_column_set_for(lua_State *L, int layout_index, const int *order, int count, int extras) {
    prec_table_layout *layout = lua_touserdata(L, layout_index);
    bool has_all = !extras && count == layout->column_count;
    for (int i = 0; has_all && i < count; i++) has_all = order[i] == i;
    if (has_all) {
        lua_pop(L, 1);
        lua_getiuservalue(L, layout_index, TABLE_LAYOUT_COLUMN_SET);
        return lua_touserdata(L, -1);
    }
    int names = lua_gettop(L);
    lua_Integer name_count = (lua_Integer)lua_rawlen(L, names);
    luaL_Buffer buffer;
    luaL_buffinit(L, &buffer);
    for (lua_Integer i = 1; i <= name_count; i++) {
        lua_rawgeti(L, names, i);
        luaL_addvalue(&buffer);
        luaL_addchar(&buffer, '\0');
    }
    luaL_pushresult(&buffer);
    lua_getiuservalue(L, layout_index, TABLE_LAYOUT_COLUMN_SETS);
    int key = names + 1, column_sets = names + 2;
    lua_pushvalue(L, key);
    if (lua_rawget(L, column_sets) == LUA_TNIL) {
        lua_pop(L, 1);
        lua_pushvalue(L, names);
        prec_make_column_set(L, layout_index, order, count, extras);
        lua_pushvalue(L, key);
        lua_pushvalue(L, -2);
        lua_rawset(L, column_sets);
    }
    lua_replace(L, names);
    lua_settop(L, names);
    return lua_touserdata(L, names);
}

/* MARK: - Building */

typedef struct {
    pdb_call *call;
    prec_row_layout *row_layout;
    int index, keys, column_sets; /* the row layout and its lists, on the stack */
} builder;

/* Adds the fields for associated rows to the lists of fields and extras, so that a missing row is nil. Returns whether there are such
** fields. */
static bool add_association_fields(lua_State *L, int description, int fields, int extras) {
    if (description == 0 || lua_getfield(L, description, "fields") != LUA_TTABLE) return false;
    lua_Integer count = (lua_Integer)lua_rawlen(L, -1);
    for (lua_Integer i = 1; i <= count; i++) {
        lua_rawgeti(L, -1, i);
        lua_pushvalue(L, -1);
        lua_pushboolean(L, true);
        lua_rawset(L, extras);
        lua_rawseti(L, fields, (lua_Integer)lua_rawlen(L, fields) + 1);
    }
    return count > 0;
}

/* Returns the name of a result column, either from the segment's list at `names` or from SQLite, which may rename columns of joins and
** subqueries. Pushes the value that protects the name from collection. */
static const char *push_column_name(lua_State *L, sqlite3_stmt *handle, int column, int names, int index) {
    if (lua_istable(L, names) && lua_rawgeti(L, names, index) == LUA_TSTRING) return lua_tostring(L, -1);
    const char *name = sqlite3_column_name(handle, column);
    return lua_pushstring(L, name ? name : "");
}

/* Returns whether the name of a column has the prefix of columns that are only for the library, such as those for pages of requests
** (page_searches.lua). The library removes them from records, so they are not among the fields. */
static bool is_carried(const char *name) {
    static const char beginning[] = "perilune_carried_";
    return strncmp(name, beginning, sizeof beginning - 1) == 0;
}

/* Fills in a segment for the class with the table layout at `layout_index`, and adds its column set to the list. `description` is the stack
** index of the segment's description, or 0. */
static void build_segment(lua_State *L, builder *builder, int number, int layout_index, int description) {
    prec_segment *segment = &builder->row_layout->segments[number];
    sqlite3_stmt *handle = builder->call->statement->handle;
    int *order = lua_newuserdatauv(L, (size_t)(segment->count + 1) * sizeof *order, 0), taken_count = 0;
    int top = lua_gettop(L), positions = top + 1, names = top + 2, taken = top + 3, fields = top + 4, extras = top + 5;
    int given = top + 6;
    luaL_checkstack(L, LUA_MINSTACK, NULL);
    lua_getiuservalue(L, layout_index, TABLE_LAYOUT_POSITIONS);
    lua_getiuservalue(L, layout_index, TABLE_LAYOUT_NAMES);
    lua_newtable(L);
    lua_newtable(L);
    lua_newtable(L);
    if (description == 0) lua_pushnil(L);
    else lua_getfield(L, description, "names");
    bool has_extras = false;
    for (int column = segment->first; column < segment->first + segment->count; column++) {
        const char *name = push_column_name(L, handle, column, given, column - segment->first + 1);
        int position = prec_push_record_key(L, name, positions, names, taken);
        builder->row_layout->positions[column] = position;
        if (position >= 0) order[taken_count++] = position;
        bool is_field = position != NOT_TAKEN && !(position == NOT_IN_TABLE && is_carried(name));
        if (is_field && position == NOT_IN_TABLE) {
            has_extras = true;
            lua_pushvalue(L, -1);
            lua_pushboolean(L, true);
            lua_rawset(L, extras);
        }
        if (is_field) {
            lua_pushvalue(L, -1);
            lua_rawseti(L, fields, (lua_Integer)lua_rawlen(L, fields) + 1);
        }
        lua_rawseti(L, builder->keys, column + 1);
        lua_settop(L, given);
    }
    if (add_association_fields(L, description, fields, extras)) has_extras = true;
    lua_pushvalue(L, fields);
    segment->column_set = prec_push_column_set_for(L, layout_index, order, taken_count, has_extras ? extras : 0);
    segment->tracks_changes = segment->column_set->layout->model->tracks_changes;
    lua_rawseti(L, builder->column_sets, number + 1);
    lua_settop(L, top - 1);
}

static int integer_field(lua_State *L, int table, const char *name, int other) {
    lua_getfield(L, table, name);
    int integer = lua_isinteger(L, -1) ? (int)lua_tointeger(L, -1) : other;
    lua_pop(L, 1);
    return integer;
}

/* Builds the segments from a list of descriptions. Each is a table with class, first (column, from 1), count, names of columns, parent (an
** index in the list), field, optional, keeps_blobs, and fields: the names of fields for associated rows. */
static void build_segments(lua_State *L, builder *builder, int list, int fields) {
    int column_count = builder->row_layout->column_count;
    for (int i = 0; i < builder->row_layout->segment_count; i++) {
        int top = lua_gettop(L), description = top + 1;
        lua_rawgeti(L, list, i + 1);
        prec_segment *segment = &builder->row_layout->segments[i];
        segment->first = integer_field(L, description, "first", 1) - 1;
        segment->count = integer_field(L, description, "count", column_count);
        segment->parent = i == 0 ? -1 : integer_field(L, description, "parent", 1) - 1;
        if (segment->first < 0 || segment->count < 0 || segment->count > column_count - segment->first ||
            (i > 0 && (segment->parent < 0 || segment->parent >= i))) {
            plua_raise(L, "internal", "a row layout does not match its statement");
        }
        lua_getfield(L, description, "optional");
        segment->is_optional = lua_toboolean(L, -1);
        lua_getfield(L, description, "keeps_blobs");
        segment->keeps_blobs = lua_toboolean(L, -1);
        if (lua_getfield(L, description, "field") == LUA_TNIL) lua_pushboolean(L, false);
        lua_rawseti(L, fields, i + 1);
        lua_settop(L, description);
        lua_getfield(L, description, "class");
        if (prec_push_model(L, -1) == NULL) plua_raise(L, "internal", "a segment of a row layout has no class");
        prec_push_table_layout(L, lua_gettop(L), builder->call->access);
        build_segment(L, builder, i, lua_gettop(L), description);
        lua_settop(L, top);
    }
}

/* Builds the segment of a single class. */
static void build_root(lua_State *L, builder *builder, int model, int fields) {
    builder->row_layout->segments[0] = (prec_segment){.count = builder->row_layout->column_count, .parent = -1};
    prec_push_table_layout(L, model, builder->call->access);
    build_segment(L, builder, 0, lua_gettop(L), 0);
    lua_pop(L, 1);
    lua_pushboolean(L, false);
    lua_rawseti(L, fields, 1);
}

/* Pushes a new row layout for the class or the list of segments. */
static prec_row_layout *build(lua_State *L, pdb_call *call) {
    pdb_statement *statement = call->statement;
    int source = call->class_index, top = lua_gettop(L);
    luaL_checkstack(L, LUA_MINSTACK * 2, "too many arguments");
    bool is_class = prec_push_model(L, source) != NULL;
    if (!is_class) lua_pushnil(L);
    int segment_count = is_class ? 1 : (int)lua_rawlen(L, source);
    if (segment_count < 1) plua_raise(L, "argument", "%s: expected a record class", call->arguments.verb);
    size_t segments_size = (size_t)segment_count * sizeof(prec_segment);
    prec_row_layout *row_layout = lua_newuserdatauv(
        L, sizeof *row_layout + segments_size + (size_t)statement->column_count * sizeof(int), ROW_LAYOUT_VALUES);
    int index = lua_gettop(L);
    memset(row_layout, 0, sizeof *row_layout + segments_size);
    row_layout->positions = (int *)((char *)row_layout->segments + segments_size);
    row_layout->source = lua_topointer(L, source);
    row_layout->prepare_count = statement->prepare_count;
    row_layout->column_count = statement->column_count;
    row_layout->segment_count = segment_count;
    for (int i = 0; i < row_layout->column_count; i++) row_layout->positions[i] = NOT_TAKEN;
    lua_rawgetp(L, LUA_REGISTRYINDEX, &prec_row_layout_metatable_key);
    lua_setmetatable(L, -2);
    builder builder = {.call = call, .row_layout = row_layout, .index = index, .keys = index + 1, .column_sets = index + 2};
    lua_createtable(L, row_layout->column_count, 0);
    for (int i = 1; i <= row_layout->column_count; i++) {
        lua_pushboolean(L, false);
        lua_rawseti(L, builder.keys, i);
    }
    lua_createtable(L, segment_count, 0);
    lua_createtable(L, segment_count, 0);
    if (is_class) build_root(L, &builder, top + 1, index + 3);
    else build_segments(L, &builder, source, index + 3);
    /* The generation is read again, because reading the schema may have revealed a change. */
    row_layout->generation = call->database->schema_generation;
    lua_setiuservalue(L, index, ROW_LAYOUT_FIELDS);
    lua_setiuservalue(L, index, ROW_LAYOUT_COLUMN_SETS);
    lua_setiuservalue(L, index, ROW_LAYOUT_KEYS);
    lua_pushvalue(L, source);
    lua_setiuservalue(L, index, ROW_LAYOUT_SOURCE);
    lua_replace(L, top + 1);
    lua_settop(L, top + 1);
    return row_layout;
}

prec_row_layout *prec_push_row_layout(lua_State *L, pdb_call *call) {
    pdb_statement *statement = call->statement;
    lua_getiuservalue(L, call->statement_index, PDB_LAYOUT);
    prec_row_layout *row_layout = lua_touserdata(L, -1);
    if (row_layout && row_layout->source == lua_topointer(L, call->class_index) && row_layout->prepare_count == statement->prepare_count &&
        row_layout->column_count == statement->column_count && row_layout->generation == call->database->schema_generation) {
        return row_layout;
    }
    lua_pop(L, 1);
    row_layout = build(L, call);
    lua_pushvalue(L, -1);
    lua_setiuservalue(L, call->statement_index, PDB_LAYOUT);
    return row_layout;
}
