/* Layouts, and the making of records from the rows of statements. */
#include "records_chunks.h"

enum { NOT_IN_PLAN = -1, NOT_TAKEN = -2 };

/* As many bytes as a snapshot takes without a string of Lua. */
enum { longest_date = 40 };

/* MARK: - Which column is what */

/* Pushes the name of a column of the result in lower case, as SQLite compares names: only ASCII letters. */
static void push_folded(lua_State *L, const char *name) {
    size_t length = strlen(name);
    luaL_Buffer buffer;
    char *lower = luaL_buffinitsize(L, &buffer, length);
    for (size_t i = 0; i < length; i++) lower[i] = (char)(name[i] >= 'A' && name[i] <= 'Z' ? name[i] + 32 : name[i]);
    luaL_pushresultsize(&buffer, length);
}

/* The position of a column in the plan, from 0, or NOT_IN_PLAN. `positions` is the plan's table. */
static int find_position(lua_State *L, int positions, const char *name) {
    lua_pushstring(L, name);
    if (lua_rawget(L, positions) == LUA_TNIL) {
        lua_pop(L, 1);
        push_folded(L, name);
        lua_rawget(L, positions);
    }
    int position = lua_isnil(L, -1) ? NOT_IN_PLAN : (int)lua_tointeger(L, -1) - 1;
    lua_pop(L, 1);
    return position;
}

/* Pushes the key under which a column of the result is kept, and sets its position. `taken` is a table of keys. */
static int push_key(lua_State *L, const char *name, int positions, int names, int taken) {
    int position = find_position(L, positions, name);
    if (position == NOT_IN_PLAN) lua_pushstring(L, name);
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

/* Pushes the shape for the list of names on top of the stack (popped): one that there is, or a new one. */
static perilune_shape *push_shape(lua_State *L, int plan_index, const int *order, int count, int extras) {
    perilune_plan *plan = lua_touserdata(L, plan_index);
    bool has_all = !extras && count == plan->column_count;
    for (int i = 0; has_all && i < count; i++) has_all = order[i] == i;
    if (has_all) {
        lua_pop(L, 1);
        lua_getiuservalue(L, plan_index, PLAN_SHAPE);
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
    lua_getiuservalue(L, plan_index, PLAN_SHAPES);
    int key = names + 1, shapes = names + 2;
    lua_pushvalue(L, key);
    if (lua_rawget(L, shapes) == LUA_TNIL) {
        lua_pop(L, 1);
        lua_pushvalue(L, names);
        perilune_make_shape(L, plan_index, order, count, extras);
        lua_pushvalue(L, key);
        lua_pushvalue(L, -2);
        lua_rawset(L, shapes);
    }
    lua_replace(L, names);
    lua_settop(L, names);
    return lua_touserdata(L, names);
}

/* MARK: - Building */

typedef struct {
    perilune_call *call;
    perilune_layout *layout;
    int index, keys, shapes; /* the layout and its lists on the stack */
} builder;

/* Adds the fields that hold associated rows to the lists of fields and extras: one without a row is nil. Returns whether there
** are any. */
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

/* Fills in the segment, for the class whose plan is at `plan`; its shape goes into the list. `description` is what it was described
** by, or 0. */
static void build_segment(lua_State *L, builder *builder, int number, int plan, int description) {
    perilune_segment *segment = &builder->layout->segments[number];
    sqlite3_stmt *handle = builder->call->statement->handle;
    int *order = lua_newuserdatauv(L, (size_t)(segment->count + 1) * sizeof *order, 0), taken_count = 0;
    int top = lua_gettop(L), positions = top + 1, names = top + 2, taken = top + 3, fields = top + 4, extras = top + 5;
    luaL_checkstack(L, LUA_MINSTACK, NULL);
    lua_getiuservalue(L, plan, PLAN_POSITIONS);
    lua_getiuservalue(L, plan, PLAN_NAMES);
    lua_newtable(L);
    lua_newtable(L);
    lua_newtable(L);
    bool has_extras = false;
    for (int column = segment->first; column < segment->first + segment->count; column++) {
        const char *name = sqlite3_column_name(handle, column);
        int position = push_key(L, name ? name : "", positions, names, taken);
        builder->layout->positions[column] = position;
        if (position >= 0) order[taken_count++] = position;
        if (position == NOT_IN_PLAN) {
            has_extras = true;
            lua_pushvalue(L, -1);
            lua_pushboolean(L, true);
            lua_rawset(L, extras);
        }
        if (position != NOT_TAKEN) {
            lua_pushvalue(L, -1);
            lua_rawseti(L, fields, (lua_Integer)lua_rawlen(L, fields) + 1);
        }
        lua_rawseti(L, builder->keys, column + 1);
    }
    if (add_association_fields(L, description, fields, extras)) has_extras = true;
    lua_pushvalue(L, fields);
    segment->shape = push_shape(L, plan, order, taken_count, has_extras ? extras : 0);
    segment->tracks_changes = segment->shape->plan->model->tracks_changes;
    lua_rawseti(L, builder->shapes, number + 1);
    lua_settop(L, top - 1);
}

static int integer_field(lua_State *L, int table, const char *name, int other) {
    lua_getfield(L, table, name);
    int integer = lua_isinteger(L, -1) ? (int)lua_tointeger(L, -1) : other;
    lua_pop(L, 1);
    return integer;
}

/* From a list of tables with class, first and count (columns, from 1), parent (a position in the list), field and
** optional, and fields: the names of those that will hold associated rows. */
static void build_segments(lua_State *L, builder *builder, int list, int fields) {
    int column_count = builder->layout->column_count;
    for (int i = 0; i < builder->layout->segment_count; i++) {
        int top = lua_gettop(L), description = top + 1;
        lua_rawgeti(L, list, i + 1);
        perilune_segment *segment = &builder->layout->segments[i];
        segment->first = integer_field(L, description, "first", 1) - 1;
        segment->count = integer_field(L, description, "count", column_count);
        segment->parent = i == 0 ? -1 : integer_field(L, description, "parent", 1) - 1;
        if (segment->first < 0 || segment->count < 0 || segment->count > column_count - segment->first ||
            (i > 0 && (segment->parent < 0 || segment->parent >= i))) {
            perilune_raise(L, "internal", "a layout does not fit its statement");
        }
        lua_getfield(L, description, "optional");
        segment->is_optional = lua_toboolean(L, -1);
        if (lua_getfield(L, description, "field") == LUA_TNIL) lua_pushboolean(L, false);
        lua_rawseti(L, fields, i + 1);
        lua_settop(L, description);
        lua_getfield(L, description, "class");
        if (perilune_push_model(L, -1) == NULL) perilune_raise(L, "internal", "a segment of a layout has no class");
        perilune_push_plan(L, lua_gettop(L), builder->call->access);
        build_segment(L, builder, i, lua_gettop(L), description);
        lua_settop(L, top);
    }
}

/* The segment of a class alone. */
static void build_root(lua_State *L, builder *builder, int model, int fields) {
    builder->layout->segments[0] = (perilune_segment){.count = builder->layout->column_count, .parent = -1};
    perilune_push_plan(L, model, builder->call->access);
    build_segment(L, builder, 0, lua_gettop(L), 0);
    lua_pop(L, 1);
    lua_pushboolean(L, false);
    lua_rawseti(L, fields, 1);
}

/* Pushes a new layout for the class or the list of segments. */
static perilune_layout *build(lua_State *L, perilune_call *call) {
    perilune_statement *statement = call->statement;
    int source = call->class_index, top = lua_gettop(L);
    luaL_checkstack(L, LUA_MINSTACK * 2, "too many arguments");
    bool is_class = perilune_push_model(L, source) != NULL;
    if (!is_class) lua_pushnil(L);
    int segment_count = is_class ? 1 : (int)lua_rawlen(L, source);
    if (segment_count < 1) perilune_raise(L, "argument", "%s: expected a record class", call->arguments.verb);
    size_t segments_size = (size_t)segment_count * sizeof(perilune_segment);
    perilune_layout *layout = lua_newuserdatauv(
        L, sizeof *layout + segments_size + (size_t)statement->column_count * sizeof(int), LAYOUT_VALUES);
    int index = lua_gettop(L);
    memset(layout, 0, sizeof *layout + segments_size);
    layout->positions = (int *)((char *)layout->segments + segments_size);
    layout->source = lua_topointer(L, source);
    layout->prepare_count = statement->prepare_count;
    layout->column_count = statement->column_count;
    layout->segment_count = segment_count;
    for (int i = 0; i < layout->column_count; i++) layout->positions[i] = NOT_TAKEN;
    lua_rawgetp(L, LUA_REGISTRYINDEX, &perilune_layout_metatable_key);
    lua_setmetatable(L, -2);
    builder builder = {.call = call, .layout = layout, .index = index, .keys = index + 1, .shapes = index + 2};
    lua_createtable(L, layout->column_count, 0);
    for (int i = 1; i <= layout->column_count; i++) {
        lua_pushboolean(L, false);
        lua_rawseti(L, builder.keys, i);
    }
    lua_createtable(L, segment_count, 0);
    lua_createtable(L, segment_count, 0);
    if (is_class) build_root(L, &builder, top + 1, index + 3);
    else build_segments(L, &builder, source, index + 3);
    /* Reading the schema may have shown that it is another one. */
    layout->generation = call->database->schema_generation;
    lua_setiuservalue(L, index, LAYOUT_FIELDS);
    lua_setiuservalue(L, index, LAYOUT_SHAPES);
    lua_setiuservalue(L, index, LAYOUT_KEYS);
    lua_pushvalue(L, source);
    lua_setiuservalue(L, index, LAYOUT_SOURCE);
    lua_replace(L, top + 1);
    lua_settop(L, top + 1);
    return layout;
}

perilune_layout *perilune_push_layout(lua_State *L, perilune_call *call) {
    perilune_statement *statement = call->statement;
    lua_getiuservalue(L, call->statement_index, PERILUNE_LAYOUT);
    perilune_layout *layout = lua_touserdata(L, -1);
    if (layout && layout->source == lua_topointer(L, call->class_index) && layout->prepare_count == statement->prepare_count &&
        layout->column_count == statement->column_count && layout->generation == call->database->schema_generation) {
        return layout;
    }
    lua_pop(L, 1);
    layout = build(L, call);
    lua_pushvalue(L, -1);
    lua_setiuservalue(L, call->statement_index, PERILUNE_LAYOUT);
    return layout;
}

int perilune_raise_stale(lua_State *L, perilune_call *call) {
    perilune_end_run(call->statement);
    return perilune_raise(L, "schema", "%s: the schema has changed while the statement ran: its rows are no longer those of the "
                          "class", call->arguments.verb);
}

/* MARK: - Decoding */

/* Pushes a text or a blob and packs it. */
static void push_and_pack_bytes(lua_State *L, sqlite3_stmt *handle, int column, bool is_text, perilune_packer *packer) {
    const char *bytes = is_text ? (const char *)sqlite3_column_text(handle, column) : sqlite3_column_blob(handle, column);
    size_t length = (size_t)sqlite3_column_bytes(handle, column);
    if (bytes == NULL && is_text) abort(); /* out of memory; Swift frames may be below, so that nothing may be raised */
    lua_pushlstring(L, bytes ? bytes : "", length);
    perilune_pack_string(L, packer, bytes ? bytes : "", length);
}

/* Pushes the value of a column of the result, which is of the type, and packs it. `known` is the column of the table that it is
** for, whose type it has even if SQL has computed it. */
static inline void push_and_pack(lua_State *L, sqlite3_stmt *handle, int column, int type, const perilune_record_column *known,
                                 perilune_packer *packer) {
    if (type == SQLITE_INTEGER) {
        lua_Integer integer = sqlite3_column_int64(handle, column);
        if (known->is_boolean) {
            lua_pushboolean(L, integer != 0);
            perilune_pack_boolean(packer, integer != 0);
        } else {
            lua_pushinteger(L, integer);
            perilune_pack_integer(packer, integer);
        }
    } else if (type == SQLITE_FLOAT) {
        lua_Number number = sqlite3_column_double(handle, column);
        lua_pushnumber(L, number);
        perilune_pack_number(packer, number);
    } else {
        push_and_pack_bytes(L, handle, column, type == SQLITE_TEXT, packer);
    }
}

/* Pushes the date that is stored as a text in one of the usual forms, and packs the text. Returns false, with nothing pushed, for
** anything else. */
static bool push_date(lua_State *L, sqlite3_stmt *handle, int column, perilune_packer *packer) {
    if (sqlite3_column_type(handle, column) != SQLITE_TEXT) return false;
    const char *bytes = (const char *)sqlite3_column_text(handle, column);
    size_t length = (size_t)sqlite3_column_bytes(handle, column);
    int64_t microseconds;
    if (bytes == NULL || length > longest_date || !perilune_parse_date(bytes, length, &microseconds)) return false;
    if (packer) perilune_pack_string(L, packer, bytes, length);
    perilune_push_date(L, microseconds);
    return true;
}

/* Has the Lua part make dates of what is stored otherwise in the record on top of the stack. Swift frames may be below: what goes
** wrong is kept for the statement to raise. */
static void read_odd_dates(lua_State *L) {
    luaL_checkstack(L, LUA_MINSTACK, NULL);
    perilune_push_record_function(L, "read_dates");
    lua_pushvalue(L, -2);
    if (perilune_pcall(L, 1, 0) != LUA_OK) perilune_keep_pending_error(L);
}

/* Pushes the record of a segment, whose metatable and chunk are at `metatable` and behind it. The packer has begun. */
static void push_segment(lua_State *L, perilune_statement *statement, const perilune_layout *layout,
                         const perilune_segment *segment, int keys, int metatable, perilune_packer *packer) {
    lua_createtable(L, 0, segment->count);
    const perilune_record_column *columns = segment->shape->plan->columns;
    int end = segment->first + segment->count;
    bool has_odd_dates = false;
    for (int column = segment->first; column < end; column++) {
        int position = layout->positions[column];
        int type = sqlite3_column_type(statement->handle, column);
        if (type == SQLITE_NULL) {
            if (packer && position >= 0) perilune_pack_null(packer);
            continue;
        }
        if (position == NOT_TAKEN) continue;
        /* Nothing may be raised here. */
        if (type != SQLITE_INTEGER && position >= 0 && columns[position].is_boolean) perilune_rows_of(L)->has_misfit = true;
        lua_pushvalue(L, keys + column);
        bool is_date = position >= 0 && columns[position].is_date;
        if (is_date && push_date(L, statement->handle, column, packer)) {
            lua_rawset(L, -3);
            continue;
        }
        if (is_date) has_odd_dates = true;
        if (packer && position >= 0) push_and_pack(L, statement->handle, column, type, &columns[position], packer);
        else if (position >= 0) perilune_push_column(L, statement->handle, column, columns[position].is_boolean);
        else perilune_push_value(L, statement, column);
        lua_rawset(L, -3);
    }
    if (packer) perilune_end_packing(packer, lua_topointer(L, -1));
    lua_pushvalue(L, metatable);
    lua_setmetatable(L, -2);
    if (has_odd_dates) read_odd_dates(L);
}

static bool is_all_null(perilune_statement *statement, const perilune_segment *segment) {
    for (int column = segment->first; column < segment->first + segment->count; column++) {
        if (sqlite3_column_type(statement->handle, column) != SQLITE_NULL) return false;
    }
    return true;
}

static void push_keys(lua_State *L, perilune_layout *layout, int layout_index) {
    lua_getiuservalue(L, layout_index, LAYOUT_KEYS);
    int list = lua_gettop(L);
    luaL_checkstack(L, layout->column_count + layout->segment_count * 4 + LUA_MINSTACK, "too many columns");
    for (int i = 1; i <= layout->column_count; i++) lua_rawgeti(L, list, i);
    lua_remove(L, list);
}

perilune_decoder perilune_begin_records(lua_State *L, int layout_index) {
    perilune_layout *layout = lua_touserdata(L, layout_index);
    perilune_decoder decoder = {.layout = layout, .layout_index = layout_index, .keys = lua_gettop(L) + 1};
    push_keys(L, layout, layout_index);
    decoder.metatables = lua_gettop(L) + 1;
    for (int i = 0; i < layout->segment_count; i++) {
        lua_getiuservalue(L, layout_index, LAYOUT_SHAPES);
        lua_rawgeti(L, -1, i + 1);
        lua_getiuservalue(L, -1, SHAPE_METATABLE);
        lua_replace(L, -3);
        lua_pop(L, 1);
        lua_pushnil(L);
    }
    return decoder;
}

/* Begins a record of the segment in its chunk, or in the one that is open. They are at `metatable` and behind it. */
static void begin_packing(lua_State *L, perilune_decoder *decoder, int number, int metatable, perilune_packer *packer) {
    perilune_shape *shape = decoder->layout->segments[number].shape;
    perilune_chunk *chunk = lua_touserdata(L, metatable + 1);
    if (chunk && perilune_begin_packing(packer, chunk, metatable + 1, shape->count)) return;
    lua_getiuservalue(L, decoder->layout_index, LAYOUT_SHAPES);
    lua_rawgeti(L, -1, number + 1);
    perilune_push_open_chunk(L, lua_gettop(L), packer);
    lua_replace(L, metatable + 1);
    lua_replace(L, metatable);
    lua_pop(L, 2);
    packer->index = metatable + 1;
}

static void decode_segment(lua_State *L, perilune_statement *statement, perilune_decoder *decoder, int number) {
    const perilune_segment *segment = &decoder->layout->segments[number];
    int metatable = decoder->metatables + number * 2;
    perilune_packer packer;
    if (segment->tracks_changes) begin_packing(L, decoder, number, metatable, &packer);
    push_segment(L, statement, decoder->layout, segment, decoder->keys, metatable, segment->tracks_changes ? &packer : NULL);
}

/* Puts the record on top of the stack into the one that holds it, which is on the stack too. */
static void put_into_parent(lua_State *L, perilune_decoder *decoder, int number, int first_record) {
    lua_getiuservalue(L, decoder->layout_index, LAYOUT_FIELDS);
    lua_rawgeti(L, -1, number + 1);
    lua_pushvalue(L, -3);
    lua_rawset(L, first_record + decoder->layout->segments[number].parent);
    lua_pop(L, 1);
}

void perilune_decode(lua_State *L, perilune_statement *statement, perilune_decoder *decoder) {
    const perilune_layout *layout = decoder->layout;
    decode_segment(L, statement, decoder, 0);
    if (layout->segment_count == 1) return;
    int first_record = lua_gettop(L);
    for (int i = 1; i < layout->segment_count; i++) {
        const perilune_segment *segment = &layout->segments[i];
        bool has_parent = lua_type(L, first_record + segment->parent) == LUA_TTABLE;
        if (!has_parent || (segment->is_optional && is_all_null(statement, segment))) {
            lua_pushnil(L);
            continue;
        }
        decode_segment(L, statement, decoder, i);
        put_into_parent(L, decoder, i, first_record);
    }
    lua_settop(L, first_record);
}

bool perilune_push_record(lua_State *L, perilune_statement *statement, int layout_index) {
    perilune_layout *layout = lua_touserdata(L, layout_index);
    if (layout->column_count != statement->column_count) return false;
    layout_index = lua_absindex(L, layout_index);
    int top = lua_gettop(L);
    if (layout->segment_count > 1) {
        perilune_decoder decoder = perilune_begin_records(L, layout_index);
        perilune_decode(L, statement, &decoder);
    } else {
        const perilune_segment *segment = &layout->segments[0];
        push_keys(L, layout, layout_index);
        lua_getiuservalue(L, layout_index, LAYOUT_SHAPES);
        lua_rawgeti(L, -1, 1);
        int shape = lua_gettop(L);
        perilune_packer packer;
        if (segment->tracks_changes) perilune_push_open_chunk(L, shape, &packer);
        else lua_getiuservalue(L, shape, SHAPE_METATABLE);
        push_segment(L, statement, layout, segment, top + 1, shape + 1, segment->tracks_changes ? &packer : NULL);
    }
    lua_replace(L, top + 1);
    lua_settop(L, top + 1);
    return true;
}

void perilune_raise_misfit(lua_State *L) {
    perilune_rows_of(L)->has_misfit = false;
    luaL_checkstack(L, LUA_MINSTACK, NULL);
    perilune_push_record_function(L, "raise_misfit");
    lua_pushvalue(L, -2);
    lua_call(L, 1, 0);
}

/* MARK: - From a row */

/* record_from(plan, names, values): a record with the values by those names, which need not be columns. */
int perilune_record_from(lua_State *L) {
    enum { plan = 1, row_names, values, positions, names, taken, extras, fields, record, order };
    lua_settop(L, 3);
    luaL_checktype(L, row_names, LUA_TTABLE);
    luaL_checktype(L, values, LUA_TTABLE);
    perilune_plan *block = perilune_block_of(L, plan, perilune_rows_of(L)->plan_metatable);
    if (block == NULL) return luaL_typeerror(L, plan, "plan");
    int count = (int)lua_rawlen(L, row_names), taken_count = 0;
    bool has_extras = false;
    luaL_checkstack(L, LUA_MINSTACK, NULL);
    lua_getiuservalue(L, plan, PLAN_POSITIONS);
    lua_getiuservalue(L, plan, PLAN_NAMES);
    for (int i = taken; i <= fields; i++) lua_newtable(L);
    lua_createtable(L, 0, count);
    int *order_of = lua_newuserdatauv(L, (size_t)(count + 1) * sizeof *order_of, 0);
    for (int i = 1; i <= count; i++) {
        lua_rawgeti(L, row_names, i);
        const char *name = lua_tostring(L, -1);
        int position = push_key(L, name ? name : "", positions, names, taken);
        if (position == NOT_TAKEN) {
            lua_settop(L, order);
            continue;
        }
        if (position >= 0) order_of[taken_count++] = position;
        else has_extras = true;
        if (position < 0) {
            lua_pushvalue(L, -1);
            lua_pushboolean(L, true);
            lua_rawset(L, extras);
        }
        lua_pushvalue(L, -1);
        lua_rawseti(L, fields, (lua_Integer)lua_rawlen(L, fields) + 1);
        lua_pushvalue(L, -2);
        lua_rawget(L, values);
        lua_rawset(L, record);
        lua_settop(L, order);
    }
    lua_pushvalue(L, fields);
    push_shape(L, plan, order_of, taken_count, has_extras ? extras : 0);
    int shape = lua_gettop(L);
    lua_getiuservalue(L, shape, SHAPE_METATABLE);
    lua_setmetatable(L, record);
    if (block->model->tracks_changes) perilune_take_snapshot(L, shape, record, record);
    lua_settop(L, record);
    if (block->has_dates) {
        perilune_push_record_function(L, "read_dates");
        lua_pushvalue(L, record);
        lua_call(L, 1, 0);
    }
    return 1;
}
