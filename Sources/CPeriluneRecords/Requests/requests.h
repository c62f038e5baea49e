/* Deriving requests, running compiled ones, and fetching early what is written next. */
#ifndef PERILUNE_REQUESTS_H
#define PERILUNE_REQUESTS_H

#include "CPeriluneRecords/Decoding/decoding.h"

/* For the Lua part: see there. */
extern const luaL_Reg prec_request_functions[], prec_derivation_functions[], prec_prefetch_functions[];

#endif
