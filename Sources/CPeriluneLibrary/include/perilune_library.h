/* The Lua part of the library, as text inside the binary. */
#ifndef PERILUNE_LIBRARY_H
#define PERILUNE_LIBRARY_H

/* The source text of a module, which lasts as long as the program; NULL if no module has that name. Lua's text has no NUL. */
const char *perilune_library_source(const char *name);

#endif
