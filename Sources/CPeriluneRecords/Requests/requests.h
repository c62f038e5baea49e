/* Derivation of requests, execution of compiled ones, and prefetching of associations. */
#ifndef PERILUNE_REQUESTS_H
#define PERILUNE_REQUESTS_H

#include "CPeriluneRecords/Decoding/decoding.h"

/* Functions that the Lua part calls and documents. */
extern const luaL_Reg prec_request_functions[], prec_derivation_functions[], prec_prefetch_functions[];

#endif
