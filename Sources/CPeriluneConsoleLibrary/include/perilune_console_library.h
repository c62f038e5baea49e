/* The modules of the console, as text inside the binary. */
#ifndef PERILUNE_CONSOLE_LIBRARY_H
#define PERILUNE_CONSOLE_LIBRARY_H

/* The source text of a module, which lasts as long as the program; NULL if no module has that name. Lua's text has no NUL. */
const char *perilune_console_library_source(const char *name);

#endif
