/* The reference of what scripts see, as text inside the binary. */
#ifndef PERILUNE_REFERENCE_LIBRARY_H
#define PERILUNE_REFERENCE_LIBRARY_H

/* The text of a module, which lasts as long as the program; NULL if no module has that name. It has no NUL.
** It touches no Lua state. */
const char *perilune_reference_library_source(const char *name);

#endif
