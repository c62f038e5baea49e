/*
** Keeps longjmp away from Swift.
**
** Lua raises errors by longjmp, which must never cross a Swift frame. This target owns every call that can raise:
** Swift functions are called through a trampoline that raises only after Swift has returned, and calls
** of Lua by Swift that could raise run here, under a protected call.
**
** Stack effects follow Lua's manual: [-popped, +pushed, raises]. The third part marks what a function can raise: nothing (-), an
** error only if memory runs out (m), any error of the code that it calls (e), or an error by design (v). A count n depends on the call.
*/
#ifndef PERILUNE_SHIM_H
#define PERILUNE_SHIM_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

/* MARK: - The context of a state */

/* The reason why a run was ended from outside. Once set, scripts cannot reset it. */
typedef enum {
    PLUA_CANCEL_NONE = 0,
    PLUA_CANCEL_TIMEOUT = 1,
    PLUA_CANCEL_BY_HOST = 2,
    PLUA_CANCEL_MEMORY = 3,
    PLUA_CANCEL_BUDGET = 4,
    PLUA_CANCEL_EXIT = 5, /* the script asked for it: os.exit */
    PLUA_CANCEL_DISK = 6,
} plua_cancel_reason;

/* Results of a Swift function called by Lua, which must not raise. */
enum {
    PLUA_RAISE = -1, /* the error is on top of the stack */
    PLUA_YIELD = -2, /* an asynchronous call has been started; the driver will resume with its outcome */
};

/* A traversal of a table by `next` in a deterministic state: the position of the last visited key. */
typedef struct {
    uint64_t table; /* the number of the table; 0 if there is none */
    int64_t position, sequence, total;
    const void *last; /* the address of the key, if it has one */
    uint64_t used;    /* when it was used last */
} plua_cursor;

enum { plua_cursor_count = 4 };

/* The lines that have run; see plua_cover_lines. */
typedef struct plua_coverage plua_coverage;

/* Counts for the measured run; see LuaMeter. */
typedef struct plua_usage {
    bool is_on;
    size_t peak;           /* the most memory in use so far, in bytes */
    int64_t statements;    /* executed, without Perilune's own */
    int64_t rows;          /* read by statements */
    int64_t changes;       /* rows inserted, updated and deleted, by triggers too */
    int64_t bytes_written; /* to files, by SQLite */
} plua_usage;

/* The data of one Lua state, shared by its coroutines. Reached by plua_context_of. */
typedef struct plua_context {
    lua_State *main;

    /* The allocator's counts, and whether the limit is passed. Sizes are in bytes. */
    size_t used;
    size_t limit;      /* more than that after a full collection cancels the run for memory; 0 means no limit */
    size_t hard_cap;   /* requests beyond it are refused where that is safe; 0 means no cap */
    lua_State *armed;  /* the coroutine whose hook checks the limit at the next instruction, or NULL */
    bool may_refuse;   /* false while a Swift frame lies between here and the nearest protected call */
    plua_usage usage;
    int64_t fail_at;   /* tests: refuse the n-th request from now on (and its repetition); negative means never */

    /* Limits. `cancel_reason` is written from any thread, the rest on the thread that runs the state. */
    _Atomic(int) cancel_reason;
    lua_State *volatile running; /* the coroutine that runs now, whose hook is armed */
    int64_t uncharged; /* work noted by plua_count_work since the last look */
    bool limited;      /* the replaced library functions are installed, and runs are watched */
    bool is_listening; /* runs are watched without limits, so that they can be cancelled: see plua_listen */
    uint64_t deadline; /* CLOCK_MONOTONIC in nanoseconds; 0 means none */
    int64_t budget;    /* instructions left, roughly; INT64_MAX means no limit */
    int64_t disk_left; /* bytes that the runs of the count may write to files yet; INT64_MAX means no limit */
    uint64_t limit_in_nanoseconds; /* what the deadline was made from, for messages */

    /* The watch of the run; see plua_begin_watch. Protected by the watchdog's lock, except outer_watched. */
    bool is_watched;
    pthread_t watched_thread;
    int watch_signal;
    uint64_t watched_until, signal_at; /* the deadline, and when the next signal is due; UINT64_MAX means never */
    struct plua_context *next_watched, **link_watched;
    struct plua_context *volatile outer_watched; /* on the same thread: a run whose Swift function has begun this one in another state */

    /* Whether keys of tables are visited in a fixed order, and objects have numbers instead of addresses. */
    bool is_deterministic;
    uint64_t object_count;   /* objects created so far */
    const void *last_object; /* the one that was created last */
    ptrdiff_t userdata_offsets[3], thread_offset; /* from the start of an object to its address in Lua; by user values */
    uint64_t shown_count; /* objects whose number was shown */
    lua_CFunction format_function; /* string.format as Lua has it */
    plua_cursor cursors[plua_cursor_count];
    uint64_t cursor_uses;
    void *kept_lists;  /* of strings that are keys; or NULL */
    bool free_visitor; /* a function of `pairs` can be used again */

    /* Data that a higher library stores for the state; not owned. */
    void *extension;

    plua_coverage *coverage; /* or NULL */
    lua_CFunction wrap_function; /* what coroutine.wrap returns: it raises again what has failed inside; NULL without coroutines */

    uint64_t run_count; /* runs begun; only where there are limits */
    uint64_t count;     /* which count the run belongs to: what is taken outside of Lua counts for all runs of one together */
    lua_CFunction pcall_function, xpcall_function; /* those of scripts */
    bool raises_again; /* the error that is raised next has been caught before; see plua_raise_again */
    bool is_closing; /* finalizers may still call Swift functions: those are refused */

    /* Whether a driver can resume the running coroutine after an asynchronous call. */
    bool has_driver;
    lua_State *driven; /* the coroutine in which the driver runs the script, which takes it for the main one; or NULL */

    /* The Swift side. */
    void *owner;                                  /* not retained */
    int (*call)(lua_State *L, void *function);    /* runs a Swift function; see PLUA_RAISE */

    /* Swift objects whose userdata were collected, to be released by Swift outside the collector. */
    void **garbage;
    size_t garbage_count, garbage_capacity;

    size_t external;    /* what a library on top of this one has allocated for the count, in bytes; counts as the script's */
    size_t refused_size; /* of the string that was refused last: Lua asks once more */
    int nested_calls;   /* limited pcalls and xpcalls that are going on, one in the other */
    size_t output_left; /* bytes that the script may write yet; see plua_limit_output */
} plua_context;

/* Returns the context of the state that L belongs to. [-0, +0, -] */
static inline plua_context *plua_context_of(lua_State *L) {
    return *(plua_context **)lua_getextraspace(L);
}

/* Returns why the run was ended, without checking the clock. Never fails. */
static inline int plua_cancel_reason_of(plua_context *context) { return atomic_load(&context->cancel_reason); }
static inline void plua_clear_cancel_reason(plua_context *context) { atomic_store(&context->cancel_reason, PLUA_CANCEL_NONE); }

/* Returns the context of the state that runs Lua code on this thread, or NULL. */
plua_context *plua_running_context(void);

/* Returns whether the run on this thread must end, as determined by plua_poll; false if none runs. Raises nothing. */
bool plua_is_run_cancelled(void);

/* Creates a state with an empty global table and no libraries; NULL without memory. If it is deterministic, nothing that scripts can
** observe depends on addresses. [-0, +0, -] */
lua_State *plua_new_state(void *owner, int (*call)(lua_State *, void *), bool is_deterministic);

/* Closes the state and frees its context. Finalizers of userdata run, so `garbage` must be taken first and after: pass a function
** that gets every Swift object left. [-n, +0, -] */
void plua_close_state(lua_State *L, void (*release)(void *object));

/* MARK: - Limits */

/* Checks the flag, the budget and the clock, and cancels the run if necessary. Returns the reason; raises nothing. Safe to call from
** SQLite's progress handler. */
int plua_poll(plua_context *context);

/* Like plua_poll, and raises if the run is cancelled. Call from C only, with no Swift frame to cross. [-0, +0, v] */
void plua_check(lua_State *L);

/* Like plua_check, but only if more memory than the limit was allocated since Lua's last instruction. [-0, +0, v] */
void plua_check_memory(lua_State *L);

/* Subtracts `cost` (about one for each element or byte-step of work) from the budget, and checks the limits now and then. [-0, +0, v] */
void plua_count_work(lua_State *L, int64_t cost);

/* Ends the state's run unless it is already cancelled. Any thread may call it. Threads other than the run's must then call plua_wake. */
void plua_cancel_run(plua_context *context, int reason);

/* Raises the error of a cancelled run: a light userdata that only the host understands. [-0, +0, v] */
int plua_raise_cancellation(lua_State *L);

/* Replaces print by one that writes this number of bytes to standard output and then raises errors of kind "output". [-0, +0, -] */
void plua_limit_output(lua_State *L, size_t bytes);

/* Subtracts this number of bytes from the script's remaining output. Returns false, and sets the rest to 0, if less remains. [-0, +0, -] */
bool plua_take_output(lua_State *L, size_t bytes);

/* Sets the count hook of L if the run has a budget or counts lines, otherwise removes it; coroutines that L creates later inherit it.
** [-0, +0, -] */
void plua_reset_hook(lua_State *L);

/* The longest source text, in bytes, that a limited state compiles. */
#define PLUA_SOURCE_LIMIT (1024 * 1024)

/* Begins to watch a run on the calling thread, whose deadline and reason are set: once the deadline has passed, or after plua_wake, signals
** to the thread arm the hook until the watch ends, on the same thread. Watches on one thread end in the reverse order. The first one in the
** process handles SIGURG. */
void plua_begin_watch(plua_context *context);
void plua_end_watch(plua_context *context);

/* Interrupts a cancelled run. Any thread may call it. Does nothing if no run is watched. */
void plua_wake(plua_context *context);

/* Watches runs even if they have no limits, so that they can be cancelled, and uses this signal instead of SIGURG. Returns 0, or an
** errno. */
int plua_listen(plua_context *context, int signal_number);

/* CLOCK_MONOTONIC in nanoseconds. */
uint64_t plua_now(void);

/* MARK: - Order */

/* Like lua_next, but in a deterministic state keys come in a fixed order. The table may be changed as in a script's loop.
** [-1, +(2|0), e] */
int plua_next_in_order(lua_State *L, int table);

/* Like luaL_tolstring; in a deterministic state, with numbers instead of addresses. [-0, +1, e] */
const char *plua_tolstring(lua_State *L, int index, size_t *length);

/* Returns whether the state is deterministic. [-0, +0, -] */
static inline bool plua_is_deterministic(lua_State *L) { return plua_context_of(L)->is_deterministic; }

/* Returns the number of an object, in the order of creation; 0 unless the value is an object and the state is deterministic.
** [-0, +0, -] */
uint64_t plua_object_number(lua_State *L, int index);

/* MARK: - Coverage */

/* Starts counting how often each line runs, in chunks that come from files. Must be called before anything runs in a state with limits.
** Returns false without memory. */
bool plua_cover_lines(plua_context *context);

/* The lines that have run, in order. */
typedef struct {
    uint32_t *entries;    /* the first ones: the number of the file in the upper 12 bits, the line in the others */
    size_t count;
    uint64_t total, hash; /* of all of them */
} plua_line_trace;

/* Starts covering lines and recording the order in which they run, up to a number of lines. Returns false without memory. */
bool plua_trace_lines(plua_context *context, size_t limit);

/* The trace so far, or NULL. */
const plua_line_trace *plua_read_line_trace(plua_context *context);

/* The name of a file of the trace, or NULL. */
const char *plua_traced_file(plua_context *context, size_t file);

/* Passes each line that has run to a function. */
void plua_read_coverage(plua_context *context, void (*take)(void *receiver, const char *file, int line, uint32_t count),
                            void *receiver);

/* MARK: - Errors */

/*
** An error object is a userdata with the fields kind, message and others, a tostring of the form "file:line: message", concatenation with
** strings, and a metatable that scripts cannot reach. It may carry a Swift error, which the outermost call throws unchanged.
*/

/* Pushes an error object. `format` as in lua_pushfstring. [-0, +1, m] */
void plua_push_error(lua_State *L, const char *kind, const char *format, ...);

/* Pushes an error object without kind and message, for Swift to fill in. [-0, +1, m] */
static inline void plua_push_empty_error(lua_State *L) { plua_push_error(L, "", "%s", ""); }

/* Pops a value and sets it as a field of the error object below it. [-1, +0, m] */
void plua_set_error_field(lua_State *L, const char *name);

/* The prefix of the names of the host's own Lua chunks: errors are attributed to their callers. */
#define PLUA_LIBRARY_CHUNK "=[lib] "

/* Adds the fields `file` and `line` of the nearest Lua function to the error object on top, unless it has them, and completes the name
** of the called function in its message: the metafield `__receiver` of the value before the colon is the word for it. [-0, +0, m] */
void plua_add_position(lua_State *L);

/* Finds the innermost running Lua function outside the host's library chunks, which is the place that interests a user. Fills in the fields
** of lua_getinfo for "S" and "l". [-0, +0, -] */
bool plua_find_position(lua_State *L, lua_Debug *activation);

/* Returns the name by which a script called the innermost function that Lua cannot yield across, or NULL if none is known.
** The stack keeps it. [-0, +0, -] */
const char *plua_find_unwaiting_caller(lua_State *L);

/* Writes the position of the script of a plua_context, as "file:line" with its NUL, into `size` bytes; nothing if no script runs. May be
** called by a signal handler on the thread that runs the state, in a process that is ending. [-0, +0, -] */
void plua_describe_place(void *context, char *place, size_t size);

/* Returns whether the value is an error object. [-0, +0, -] */
bool plua_is_error(lua_State *L, int index);

/* Returns the place where an error object stores its Swift error: NULL without a Swift error, or if the value is not an error object.
** [-0, +0, -] */
void **plua_error_payload(lua_State *L, int index);

/* Pushes the table of the error object's fields. [-0, +1, -] */
void plua_push_error_fields(lua_State *L, int index);

/* Raises an error object of kind "argument": "function: argument N: expected ..., got ...". C only. `argument` counts as the
** script does: for a method, 1 is the first after self. [-0, +0, v] */
int plua_argument_error(lua_State *L, const char *function, int argument, const char *expected, int index);

/* Raises an error object with a position. C only. [-0, +0, v] */
int plua_raise(lua_State *L, const char *kind, const char *format, ...);

/* For libraries written in Lua. (kind, message[, fields]) raises an error object with these fields. [-n, +0, v] */
int plua_raise_error(lua_State *L);

/* For libraries written in Lua. () returns file and line of the nearest Lua function outside of the library; nothing without one.
** [-n, +(0|2), m] */
int plua_position(lua_State *L);

/* (value, fields) returns the value. If it is an error object, adds the fields that it does not have yet. [-n, +1, v] */
int plua_add_error_fields(lua_State *L);

/* The space for the description of a value that is not a table or userdata. */
enum { PLUA_DESCRIPTION_SIZE = 96 };

/* A value that is not a table or userdata; of tables and userdata, only the type is known. */
typedef struct {
    int type; /* of Lua */
    bool is_integer;
    lua_Integer integer; /* also of a boolean */
    lua_Number number;
    const char *bytes;
    size_t length;
} plua_plain;

/* Writes a value as messages describe it, `the integer 5`, without a NUL, and returns the length. Long strings are cut. */
size_t plua_describe_plain(char *target, const plua_plain *value);

/* Pushes and returns the description of a value for messages: `the string "x"`, or for objects the metafield `__described`, or
** `__name` with an article. [-0, +1, m] */
const char *plua_describe(lua_State *L, int index);

/* For libraries written in Lua. (value) returns its description. [-n, +1, v] */
int plua_describe_argument(lua_State *L);

/* Calls the function below `argument_count` arguments under protection, with a message handler that keeps traceback and position.
** Allocations inside the call may be refused. Returns a Lua status; on failure the error value is on top.
** [-(argument_count + 1), +(result_count|1), -] */
int plua_pcall(lua_State *L, int argument_count, int result_count);

/* Runs a coroutine as lua_resume does, allowing refusal of memory inside, and keeps the failure of one that fails. Returns a Lua
** status. [-?, +?, -] */
int plua_resume(lua_State *coroutine, lua_State *from, int argument_count, int *result_count);

/* Raises the error value on top, which plua_pcall has just caught. Keeps the details of its failure. [-1, +0, v] */
int plua_raise_again(lua_State *L);

/* Like lua_error. If a function of a native module would catch an error object, raises its text instead, because such functions read
** messages by lua_tostring. [-1, +0, v] */
int plua_throw(lua_State *L);

/* Returns the paths of the libraries of native modules that scripts have loaded, as a list. A lua_CFunction. [-0, +1, m] */
int plua_native_libraries(lua_State *L);

/* Stores the functions pcall and xpcall of the table of globals, on top of the stack. [-0, +0, m] */
void plua_note_protected_calls(lua_State *L);

/* The traceback and position ("file", line) of the error value on top of the stack, as kept by plua_pcall's handler. Pushes traceback
** (string or nil), file (string or nil), line (integer or nil), and forgets them. [-0, +3, -] */
void plua_push_failure(lua_State *L, int index);

/* Pops a traceback, file and line and keeps them for the error value below them, which is about to be raised again. [-3, +0, m] */
void plua_restore_failure(lua_State *L);

/* Keeps a traceback for the error value at `index`, unless one is kept for that same value. [-0, +0, m] */
void plua_keep_failure(lua_State *L, lua_State *failed, int index);

/* MARK: - Swift functions and objects as Lua values */

/* Pushes a userdata that owns a retained Swift object, with the metatable on top of the stack, which is popped. When the userdata is
** collected, the object goes to the context's garbage. [-1, +1, m] */
void plua_push_object(lua_State *L, void *object);

/* Pushes the registry table with an address as its key, created on first use with weak keys ("k") or values ("v"). [-0, +1, m] */
void plua_push_weak_table(lua_State *L, const void *key, const char *mode);

/* Pushes a userdata of plain bytes, with the metatable on top of the stack, which is popped. Returns the bytes. [-1, +1, m] */
void *plua_push_bytes(lua_State *L, size_t size);

/* Returns the Swift object, or NULL after it has been taken back. The value must be such a userdata. [-0, +0, -] */
static inline void *plua_object(lua_State *L, int index) {
    void **block = (void **)lua_touserdata(L, index);
    return block ? *block : NULL;
}

/* The collector's function for userdata made by plua_push_object. Idempotent. [-0, +0, -] */
int plua_collect_object(lua_State *L);

/* Pushes a C closure that calls a Swift function object, which is retained and owned by the closure. [-0, +1, m] */
void plua_push_function(lua_State *L, void *function);

/* Pushes an asynchronous Swift function. [-0, +1, m] */
void plua_push_async_function(lua_State *L, void *function, const char *name);

/* The light userdata that an asynchronous call yields towards its driver. */
extern const char plua_async_marker;

/* Takes the garbage list: returns its length and the array, which the caller frees. */
size_t plua_take_garbage(plua_context *context, void ***objects);

/* Frees a block that plua_take_garbage returned. */
void plua_free(void *block);

/* MARK: - Protected operations for Swift. Each returns a Lua status; on failure the error value replaces the operands. */

int plua_get(lua_State *L);                    /* [-2, +1, -] table, key -> value, with __index */
int plua_set(lua_State *L);                    /* [-3, +0, -] table, key, value, with __newindex */
int plua_raw_set(lua_State *L);                /* [-3, +0, -] */
int plua_length(lua_State *L);                 /* [-1, +1, -] with __len */
int plua_equal(lua_State *L);                  /* [-2, +1, -] a boolean, with __eq */
int plua_less(lua_State *L);                   /* [-2, +1, -] a boolean, with __lt */
int plua_to_string(lua_State *L);              /* [-1, +1, -] as tostring does */
int plua_next(lua_State *L);                   /* [-2, +2, -] table, key -> key, value; or nil, nil at the end */
int plua_collect(lua_State *L);                 /* a full collection. [-0, +0, -] */

/* Suspends garbage collection while a state's permanent objects are loaded, because each collection would mark all of them. [-0, +0, -] */
void plua_begin_loading(lua_State *L);
/* Resumes collection as if one had just ended: the next one begins when the memory has doubled. [-0, +0, -] */
void plua_end_loading(lua_State *L);

int plua_open_libraries(lua_State *L, unsigned which); /* see PLUA_LIBRARY_... [-0, +0, -] */
int plua_open_limits(lua_State *L);            /* the hook and the replaced functions, for good. [-0, +0, -] */
int plua_load(lua_State *L, const char *bytes, size_t length, const char *name); /* text only. [-0, +1, -] */

/* Returns the Lua function on top of the stack as bytecode, to be freed by plua_free; NULL without memory. [-0, +0, -] */
char *plua_dump(lua_State *L, size_t *length);

/* Loads bytecode made by plua_dump or by the build. Other bytecode can corrupt the host's memory. [-0, +1, -] */
int plua_load_compiled(lua_State *L, const char *bytes, size_t length, const char *name);

enum {
    PLUA_LIBRARY_BASE = 1u << 0,
    PLUA_LIBRARY_COROUTINE = 1u << 1,
    PLUA_LIBRARY_TABLE = 1u << 2,
    PLUA_LIBRARY_STRING = 1u << 3,
    PLUA_LIBRARY_MATH = 1u << 4,
    PLUA_LIBRARY_UTF8 = 1u << 5,
    PLUA_LIBRARY_IO = 1u << 6,
    PLUA_LIBRARY_OS = 1u << 7,      /* all of os; without it only os.time, date, clock and difftime */
    PLUA_LIBRARY_DEBUG = 1u << 8,   /* all of debug, and the metatable of strings; without it only debug.traceback */
    PLUA_LIBRARY_LOADFILE = 1u << 9, /* dofile and loadfile */
    PLUA_LIBRARY_BYTECODE = 1u << 10, /* string.dump, and what it makes for load, loadfile and dofile; without it those load text only */
    PLUA_LIBRARY_PACKAGE = 1u << 11, /* package, with C libraries, and require */
};

/* Macros of lua.h that Swift cannot see. */
static inline void plua_pop(lua_State *L, int count) { lua_settop(L, -count - 1); } /* [-count, +0, -] */
static inline bool plua_is_none_or_nil(lua_State *L, int index) { return lua_type(L, index) <= 0; } /* [-0, +0, -] */
static inline int plua_upvalue_index(int i) { return lua_upvalueindex(i); }
static inline int plua_registry_index(void) { return LUA_REGISTRYINDEX; }
static inline int plua_reference(lua_State *L) { return luaL_ref(L, LUA_REGISTRYINDEX); } /* [-1, +0, m] */
static inline void plua_unreference(lua_State *L, int reference) { luaL_unref(L, LUA_REGISTRYINDEX, reference); } /* [-0, +0, -] */
static inline void plua_push_reference(lua_State *L, int reference) { lua_rawgeti(L, LUA_REGISTRYINDEX, reference); } /* [-0, +1, -] */
static inline void plua_insert(lua_State *L, int index) { lua_rotate(L, index, 1); } /* [-1, +1, -] */
static inline void plua_remove(lua_State *L, int index) { lua_rotate(L, index, -1); lua_settop(L, -2); } /* [-1, +0, -] */

#endif
