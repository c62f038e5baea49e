/*
** Writes a Swift file that embeds the source text and bytecode of Lua modules. The build plugin EmbedModules runs it.
**
**   perilune-module-compiler OUTPUT VARIABLE NAME=FILE ...
**
** The names must be sorted by their bytes. Modules below reference.api are used only as text and get no bytecode.
*/
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>
#include <lua.h>

#define LIBRARY_CHUNK "=[lib] " /* PLUA_LIBRARY_CHUNK of the shim, which this tool does not link; a test compares them */

/* Defined by liblua, `$LuaVersion: Lua 5.4.4 ...`. */
extern const char lua_ident[];

static _Noreturn void fail(const char *which, const char *what) {
    fprintf(stderr, "perilune-module-compiler: %s: %s\n", which, what);
    exit(1);
}

/* Writes bytes as the contents of a Swift string literal. Text is written unchanged; in bytecode, each byte from 0x80 becomes the character
** with that code point. */
static void write_literal(FILE *output, const char *bytes, size_t length, bool is_text) {
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)bytes[i];
        if (byte == '\n') fputs("\\n", output);
        else if (byte == '"' || byte == '\\') fprintf(output, "\\%c", byte);
        else if (byte < 0x20 || byte == 0x7f || (!is_text && byte >= 0x80 && byte < 0xa0)) fprintf(output, "\\u{%x}", byte);
        else if (is_text || byte < 0x80) putc(byte, output);
        else fprintf(output, "%c%c", 0xc0 | byte >> 6, 0x80 | (byte & 0x3f));
    }
}

static int write_bytecode(lua_State *L, const void *piece, size_t size, void *output) {
    (void)L;
    write_literal(output, piece, size, false);
    return 0;
}

static bool is_text_only(const char *name) {
    return strncmp(name, "reference.api.", strlen("reference.api.")) == 0;
}

/* Pushes the contents of a file as a string. */
static void push_text(lua_State *L, const char *file) {
    FILE *input = fopen(file, "rb");
    if (input == NULL) fail(file, "cannot be read");
    luaL_Buffer text;
    luaL_buffinit(L, &text);
    for (size_t count = 1; count > 0;) {
        char *piece = luaL_prepbuffer(&text);
        count = fread(piece, 1, LUAL_BUFFERSIZE, input);
        luaL_addsize(&text, count);
    }
    fclose(input);
    luaL_pushresult(&text);
}

/* Returns the part of a path after its last folder `lib`; error messages use it as the name of the module. */
static const char *path_in_library(const char *file) {
    const char *found = file;
    for (const char *next = file; (next = strstr(next, "/lib/")) != NULL;) found = next += strlen("/lib/");
    return found;
}

static void write_module(FILE *output, const char *name, const char *file) {
    lua_State *L = luaL_newstate();
    if (L == NULL) fail(file, "not enough memory");
    size_t length;
    push_text(L, file);
    const char *source = lua_tolstring(L, -1, &length);
    fprintf(output, "    EmbeddedModule(\"%s\", source: \"", name);
    write_literal(output, source, length, true);
    fputs("\", bytecode: \"", output);
    if (!is_text_only(name)) {
        const char *chunk = lua_pushfstring(L, LIBRARY_CHUNK "%s", path_in_library(file));
        if (luaL_loadbufferx(L, source, length, chunk, "t") != LUA_OK) fail(file, lua_tostring(L, -1));
        lua_dump(L, write_bytecode, output, false);
    }
    fputs("\"),\n", output);
    lua_close(L);
}

int main(int count, char *arguments[]) {
    if (count < 3) fail("arguments", "expected OUTPUT VARIABLE NAME=FILE ...");
    FILE *output = fopen(arguments[1], "w");
    if (output == NULL) fail(arguments[1], "cannot be written");
    fprintf(output, "// Written by perilune-module-compiler.\npackage import PeriluneModules\n\n"
                    "package let %s = EmbeddedModules(luaIdent: \"", arguments[2]);
    write_literal(output, lua_ident, strlen(lua_ident), true);
    fputs("\", [\n", output);
    for (int i = 3; i < count; i++) {
        char *separator = strchr(arguments[i], '=');
        if (separator == NULL) fail(arguments[i], "expected NAME=FILE");
        *separator = '\0';
        write_module(output, arguments[i], separator + 1);
    }
    fputs("])\n", output);
    if (fclose(output) != 0) fail(arguments[1], "cannot be written");
    return 0;
}
