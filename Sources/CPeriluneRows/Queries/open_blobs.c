/* The methods of open blobs, modeled on Lua's file methods. An open blob is the value of one column in one row. Its length is
** fixed. */
#include "CPeriluneRows/Queries/queries.h"

static const char metatable_key; /* a registry key */

typedef struct {
    pdb_open_blob *blob; /* NULL once the script has closed it */
    bool writes;
    sqlite3_int64 size, position;
} open_blob;

/* Returns the open blob at 1, which may be closed; raises for other values. [-0, +0, v] */
static open_blob *check_self(lua_State *L, const char *verb) {
    open_blob *self = pdb_to_userdata(L, 1, pdb_state_of(L)->open_blob_metatable);
    if (self == NULL) {
        plua_raise(L, "argument", "blob:%s: expected an open blob before the colon (blob:%s(...)), got %s", verb, verb,
                   plua_describe(L, 1));
    }
    return self;
}

/* Returns the open blob at 1; raises if it is closed or if the state may not use databases now. [-0, +0, v] */
static open_blob *check_open(lua_State *L, const char *verb) {
    open_blob *self = check_self(L, verb);
    if (self->blob == NULL) plua_raise(L, "closed", "blob:%s: the blob was closed", verb);
    if (self->blob->handle == NULL) plua_raise(L, "dead_handle", "blob:%s: the blob was used after the block ended that opened it", verb);
    pdb_check_place(L, pdb_state_of(L));
    plua_check(L);
    return self;
}

/* Raises the failure of the last call on a blob. [-0, +0, v] */
static int fail(lua_State *L, open_blob *self, const char *verb, int code) {
    if (code == SQLITE_ABORT) {
        return plua_raise(L, "expired_blob", "blob:%s: the row was changed or deleted after the blob was opened; open it again", verb);
    }
    if (code == SQLITE_SCHEMA) {
        return plua_raise(L, "expired_blob", "blob:%s: the schema was changed after the blob was opened; open it again", verb);
    }
    return pdb_raise_sqlite(L, self->blob->access->connection, NULL, code);
}

/* Reads an integer argument. Floats with integer values are accepted. Returns false for other values. [-0, +0, -] */
static bool read_integer(lua_State *L, int index, lua_Integer *integer) {
    int is_integer = 0;
    if (lua_type(L, index) == LUA_TNUMBER) *integer = lua_tointegerx(L, index, &is_integer);
    return is_integer;
}

static void count_bytes(lua_State *L, sqlite3_int64 count) {
    if (pdb_state_of(L)->context->limited) plua_count_work(L, 1 + count / 64);
}

/* MARK: - Opening */

int pdb_open_blob_in_access(lua_State *L) {
    pdb_state *rows = pdb_state_of(L);
    pdb_handle *handle = pdb_check_handle(L, rows, 1, "open_blob");
    pdb_refuse_in_cluster(L, handle->database, "blobs cannot be opened in a cluster, only fetched and written whole; use substr(column, first, count) for a part");
    pdb_access *access = pdb_find_access(L, rows, handle->database, handle->token);
    bool writes = lua_toboolean(L, 6);
    if (access == NULL) {
        return plua_raise(L, "usage", "db:open_blob: a blob is open until the end of its block; call it in db:read or db:write");
    }
    if (writes && access->is_readonly) {
        return plua_raise(L, "readonly", "db:open_blob: this block may only read; open a blob for writing in db:write");
    }
    if (writes && sqlite3_get_autocommit(access->connection->handle)) {
        return plua_raise(L, "usage", "db:open_blob: a blob is written in a transaction; open it in db:write");
    }
    pdb_close_open_blobs(access, true);
    open_blob *self = lua_newuserdatauv(L, sizeof *self, 0);
    *self = (open_blob){.writes = writes};
    lua_rawgetp(L, LUA_REGISTRYINDEX, &metatable_key);
    lua_setmetatable(L, -2);
    sqlite3_blob *opened = NULL;
    int code = sqlite3_blob_open(access->connection->handle, lua_tostring(L, 2), lua_tostring(L, 3), lua_tostring(L, 4),
                                 lua_tointeger(L, 5), writes, &opened);
    if (code != SQLITE_OK) return pdb_raise_sqlite(L, access->connection, NULL, code);
    self->blob = pdb_add_open_blob(access, opened);
    if (self->blob == NULL) {
        sqlite3_blob_close(opened);
        return luaL_error(L, "not enough memory");
    }
    if (writes) code = pdb_permit_writing(self->blob, lua_tostring(L, 2));
    if (code != SQLITE_OK) return pdb_raise_sqlite(L, access->connection, NULL, code);
    self->size = sqlite3_blob_bytes(opened);
    return 1;
}

static int reopen(lua_State *L) {
    open_blob *self = check_open(L, "reopen");
    lua_Integer rowid;
    if (!read_integer(L, 2, &rowid)) return plua_argument_error(L, "blob:reopen", 1, "a row id, which is an integer", 2);
    int code = sqlite3_blob_reopen(self->blob->handle, rowid);
    if (code != SQLITE_OK) return fail(L, self, "reopen", code);
    self->size = sqlite3_blob_bytes(self->blob->handle);
    self->position = 0;
    lua_settop(L, 1);
    return 1;
}

/* MARK: - Reading and writing */

static int size(lua_State *L) {
    lua_pushinteger(L, check_open(L, "size")->size);
    return 1;
}

static int read(lua_State *L) {
    open_blob *self = check_open(L, "read");
    lua_Integer rest = self->size - self->position, count = rest;
    if (!lua_isnoneornil(L, 2)) {
        if (!read_integer(L, 2, &count) || count < 0) return plua_argument_error(L, "blob:read", 1, "the number of bytes, which is an integer of at least 0", 2);
        if (count > 0 && rest == 0) {
            lua_pushnil(L);
            return 1;
        }
        if (count > rest) count = rest;
    }
    count_bytes(L, count);
    luaL_Buffer buffer;
    char *bytes = luaL_buffinitsize(L, &buffer, (size_t)count);
    int code = sqlite3_blob_read(self->blob->handle, bytes, (int)count, (int)self->position);
    if (code != SQLITE_OK) return fail(L, self, "read", code);
    luaL_pushresultsize(&buffer, (size_t)count);
    self->position += count; /* only reached if the string could be allocated */
    return 1;
}

static int write(lua_State *L) {
    open_blob *self = check_open(L, "write");
    size_t length = 0;
    const char *bytes = lua_type(L, 2) == LUA_TSTRING ? lua_tolstring(L, 2, &length) : pdb_blob_bytes(L, 2, &length);
    if (bytes == NULL) return plua_argument_error(L, "blob:write", 1, "a string or a perilune.blob", 2);
    if (!self->writes) {
        return plua_raise(L, "readonly", "blob:write: the blob was opened for reading; open it with the option write = true");
    }
    if ((sqlite3_int64)length > self->size - self->position) {
        return plua_raise(L, "range", "blob:write: %I bytes at position %I do not fit into a blob of %I bytes, which keeps its size; "
                          "to make it longer, store zeroblob(size) with UPDATE", (LUAI_UACINT)length, (LUAI_UACINT)self->position,
                          (LUAI_UACINT)self->size);
    }
    count_bytes(L, (sqlite3_int64)length);
    int code = pdb_check_writing(self->blob);
    if (code == SQLITE_OK) code = sqlite3_blob_write(self->blob->handle, bytes, (int)length, (int)self->position);
    if (pdb_state_of(L)->has_pending_error) return pdb_raise_failure(L, NULL);
    if (code != SQLITE_OK) return fail(L, self, "write", code);
    self->position += (sqlite3_int64)length;
    lua_settop(L, 1);
    return 1;
}

/* seek([whence [, offset]]), as for files in Lua. */
static int seek(lua_State *L) {
    static const char *const names[] = {"set", "cur", "end"};
    open_blob *self = check_open(L, "seek");
    const char *whence = lua_isnoneornil(L, 2) ? "cur" : lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "";
    int place = 0;
    while (place < 3 && strcmp(whence, names[place]) != 0) place++;
    if (place == 3) return plua_argument_error(L, "blob:seek", 1, "\"set\", \"cur\" or \"end\"", 2);
    lua_Integer offset = 0;
    if (!lua_isnoneornil(L, 3) && !read_integer(L, 3, &offset)) return plua_argument_error(L, "blob:seek", 2, "an offset, which is an integer", 3);
    sqlite3_int64 base = place == 0 ? 0 : place == 1 ? self->position : self->size;
    if (offset < -base || offset > self->size - base) {
        return plua_raise(L, "range", "blob:seek: the position must be from 0 to %I, the size of the blob", (LUAI_UACINT)self->size);
    }
    self->position = base + offset;
    lua_pushinteger(L, self->position);
    return 1;
}

/* MARK: - Closing */

static int close(lua_State *L) {
    open_blob *self = check_self(L, "close");
    if (self->blob == NULL) return 0;
    pdb_check_place(L, pdb_state_of(L));
    pdb_open_blob *blob = self->blob;
    self->blob = NULL;
    blob->is_abandoned = true; /* freed once it is closed */
    pdb_connection *connection = blob->handle ? blob->access->connection : NULL;
    if (connection == NULL) {
        pdb_abandon_open_blob(blob);
        return 0;
    }
    int code = pdb_close_open_blob(blob);
    return code == SQLITE_OK || code == SQLITE_ABORT ? 0 : pdb_raise_sqlite(L, connection, NULL, code);
}

/* Closes the blob when its variable goes out of scope. If that is not possible here, the blob is closed at the end of its access. */
static int close_variable(lua_State *L) {
    open_blob *self = check_self(L, "close");
    if (self->blob && !pdb_state_of(L)->place) return close(L);
    return 0;
}

static int collect(lua_State *L) {
    open_blob *self = lua_touserdata(L, 1);
    if (self->blob) pdb_abandon_open_blob(self->blob);
    self->blob = NULL;
    return 0;
}

static int to_string(lua_State *L) {
    open_blob *self = check_self(L, "__tostring");
    if (self->blob && self->blob->handle) lua_pushfstring(L, "open blob (%I bytes)", (LUAI_UACINT)self->size);
    else lua_pushliteral(L, "open blob (closed)");
    return 1;
}

void pdb_push_open_blob_methods(lua_State *L) {
    lua_rawgetp(L, LUA_REGISTRYINDEX, &metatable_key);
    lua_getfield(L, -1, "__index");
    lua_remove(L, -2);
}

void pdb_open_open_blobs(lua_State *L) {
    static const luaL_Reg metamethods[] = {
        {"__gc", collect}, {"__close", close_variable}, {"__len", size}, {"__tostring", to_string}, {NULL, NULL}};
    static const luaL_Reg methods[] = {{"read", read}, {"write", write}, {"seek", seek}, {"size", size},
                                       {"reopen", reopen}, {"close", close}, {NULL, NULL}};
    pdb_state_of(L)->open_blob_metatable = pdb_new_metatable(L, &metatable_key, "open blob", metamethods);
    lua_pushliteral(L, "blob");
    lua_setfield(L, -2, "__receiver");
    lua_createtable(L, 0, 8);
    luaL_setfuncs(L, methods, 0);
    lua_setfield(L, -2, "__index");
    lua_pop(L, 1);
}
