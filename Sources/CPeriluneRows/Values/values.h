/* Conversion between one SQLite value and one Lua value. */
#ifndef PERILUNE_VALUES_INTERNAL_H
#define PERILUNE_VALUES_INTERNAL_H

#include <perilune_values.h>

#include "CPeriluneRows/State/state.h"

/* Create the metatables of perilune.null and of blobs. [-0, +0, m] */
void pdb_open_null(lua_State *L);
void pdb_open_blobs(lua_State *L);

/* MARK: - Parameters */

/* Binds the value at `index`; a string is bound as a blob if `is_blob`. Returns NULL, a description of the expected type, or
** pdb_conversion_failed with the error on top of the stack. May push a value that must stay on the stack until the statement is reset.
** [-0, +n, m] */
const char *pdb_bind_plain(lua_State *L, sqlite3_stmt *statement, int parameter, int index, bool is_blob);
extern const char pdb_conversion_failed[];

/* MARK: - Dates */

/* Parses a UTC date in a common format: YYYY-MM-DD, optionally followed by a time of day. Returns false for other formats. */
bool pdb_parse_date(const char *bytes, size_t length, int64_t *microseconds);

/* [-0, +1, m] */
void pdb_push_date(lua_State *L, int64_t microseconds);

/* Returns whether the bytes are valid UTF-8. Never fails. */
bool pdb_is_utf8(const char *bytes, size_t length);

#endif
