/*
** What a text of SQL is, before SQLite has seen it.
*/
#ifndef PERILUNE_SQL_H
#define PERILUNE_SQL_H

#include <stdbool.h>
#include <stddef.h>

/* The number of bytes before the first token of a text: blanks and comments. Never fails. */
size_t pdb_blank_length(const char *sql, size_t length);

#endif
