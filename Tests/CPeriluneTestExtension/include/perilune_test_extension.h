/* What SQLite calls by name when it loads the extension. */
#ifndef PERILUNE_TEST_EXTENSION_H
#define PERILUNE_TEST_EXTENSION_H

struct sqlite3;
struct sqlite3_api_routines;

int sqlite3_extension_init(struct sqlite3 *db, char **message, const struct sqlite3_api_routines *api);

#endif
