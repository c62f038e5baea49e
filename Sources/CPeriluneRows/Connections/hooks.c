/* Calls to the hooks that higher layers have registered. */
#include "CPeriluneRows/Connections/connections.h"

void pdb_add_connection_hooks(pdb_state *rows, const pdb_connection_hooks *hooks) {
    if (rows->hook_count == pdb_most_hooks) abort(); /* more registrations than open.c makes */
    rows->hooks[rows->hook_count++] = hooks;
}

/* Calls a hook in all registrations that have it. */
#define CALL_ALL(rows, hook, ...)                                        \
    for (int i = 0; i < (rows)->hook_count; i++) {                       \
        if ((rows)->hooks[i]->hook) (rows)->hooks[i]->hook(__VA_ARGS__); \
    }

void pdb_will_begin(lua_State *L, pdb_connection *connection) {
    CALL_ALL(connection->database->rows, will_begin, L, connection);
}

void pdb_will_begin_savepoint(pdb_connection *connection, size_t marks[pdb_most_hooks]) {
    pdb_state *rows = connection->database->rows;
    for (int i = 0; i < rows->hook_count; i++) {
        marks[i] = rows->hooks[i]->will_begin_savepoint ? rows->hooks[i]->will_begin_savepoint(connection) : 0;
    }
}

void pdb_did_end_savepoint(pdb_connection *connection, const size_t marks[pdb_most_hooks], bool is_kept) {
    CALL_ALL(connection->database->rows, did_end_savepoint, connection, marks[i], is_kept);
}

void pdb_did_control(pdb_connection *connection, const char *sql) {
    CALL_ALL(connection->database->rows, did_control, connection, sql);
}

void pdb_did_end_statement(pdb_connection *connection) {
    CALL_ALL(connection->database->rows, did_end_statement, connection);
}

void pdb_did_fail_statement(pdb_connection *connection) {
    CALL_ALL(connection->database->rows, did_fail_statement, connection);
}

void pdb_did_end(lua_State *L, pdb_connection *connection) {
    CALL_ALL(connection->database->rows, did_end, L, connection);
}

void pdb_did_fail(lua_State *L, pdb_connection *connection) {
    CALL_ALL(connection->database->rows, did_fail, L, connection);
}

void pdb_will_detach(lua_State *L, const pdb_database *database) {
    CALL_ALL(database->rows, will_detach, L, database);
}

void pdb_will_drop(pdb_state *rows, pdb_connection *connection) {
    CALL_ALL(rows, will_drop, connection);
}
