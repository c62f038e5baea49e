/*
** Calls between Swift and Lua, without longjmp across Swift frames.
**
** Lua raises errors by longjmp, which must never cross a Swift frame. All calls that can raise are therefore in this target. Lua calls a
** Swift function through a trampoline, which raises only after Swift has returned. When Swift calls Lua, this target makes
** the calls that could raise, in protected mode.
**
** Stack effects follow the Lua manual: [-popped, +pushed, raises]. The third part is what a function can raise: nothing (-), an error only
** if memory runs out (m), any error of the code that it calls (e), or an error on purpose (v). n depends on the call.
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

/* The reason why a run is cancelled. Scripts cannot reset it. */
typedef enum {
    PLUA_CANCEL_NONE = 0,
    PLUA_CANCEL_TIMEOUT = 1,
    PLUA_CANCEL_BY_HOST = 2,
    PLUA_CANCEL_MEMORY = 3,
    PLUA_CANCEL_BUDGET = 4,
    PLUA_CANCEL_EXIT = 5, /* the script has called os.exit */
    PLUA_CANCEL_DISK = 6,
} plua_cancel_reason;

/* Results of a Swift function that Lua calls. It must not raise. */
enum {
    PLUA_RAISE = -1, /* the error is on top of the stack */
    PLUA_YIELD = -2, /* an asynchronous call has begun; the driver will resume with its result */
};

/* The progress of a traversal by `next` in a deterministic state. */
typedef struct {
    uint64_t table; /* the number of the table; 0 if none exists */
    int64_t position, sequence, total;
    const void *last; /* the address of the last key, if it has one */
    uint64_t used;    /* a counter value, to find the least recently used traversal */
} plua_cursor;

enum { plua_cursor_count = 4 };

/* Coverage data; see plua_cover_lines. */
typedef struct plua_coverage plua_coverage;

/* The counts of a measured run; see LuaMeter. */
typedef struct plua_usage {
    bool is_on;
    size_t peak;           /* the maximum memory in use so far, in bytes */
    int64_t statements;    /* executed statements, without Perilune's own */
    int64_t rows;          /* rows that statements have read */
    int64_t changes;       /* inserted, updated and deleted rows, including changes by triggers */
    int64_t bytes_written; /* bytes that SQLite has written to files */
} plua_usage;

/* The data of one Lua state, shared by its coroutines. plua_context_of returns it. */
typedef struct plua_context {
    lua_State *main;

    /* Memory, in bytes. */
    size_t used;
    size_t limit;      /* a run that uses more after a full collection is cancelled; 0 means no limit */
    size_t hard_cap;   /* allocations beyond it are refused if that is safe; 0 means no cap */
    lua_State *armed;  /* the coroutine whose hook checks the memory limit before the next instruction, or NULL */
    bool may_refuse;   /* false while a Swift frame is between the current frame and the innermost protected call */
    plua_usage usage;
    int64_t fail_at;   /* for tests: the n-th allocation from now on, and its repetition, are refused; negative means never */

    /* Limits. Any thread may write `cancel_reason`; the other fields belong to the thread that runs the state. */
    _Atomic(int) cancel_reason;
    lua_State *volatile running; /* the coroutine that is running, whose hook is armed */
    int64_t uncharged; /* work counted by plua_count_work since the last check of the limits */
    bool limited;      /* the replaced library functions are installed, and runs are watched */
    bool is_listening; /* runs are watched even without limits, so that they can be cancelled; see plua_listen */
    uint64_t deadline; /* CLOCK_MONOTONIC in nanoseconds; 0 means none */
    int64_t budget;    /* the approximate number of instructions left; INT64_MAX means no limit */
    int64_t disk_left; /* the number of bytes that runs with the current `count` may still write to files; INT64_MAX means no limit */
    uint64_t limit_in_nanoseconds; /* the time limit from which the deadline was computed, for messages */

    /* The watch of the run; see plua_begin_watch. The watchdog's lock protects all fields except outer_watched. */
    bool is_watched;
    pthread_t watched_thread;
    int watch_signal;
    uint64_t watched_until, signal_at; /* the deadline and the time of the next signal; UINT64_MAX means never */
    struct plua_context *next_watched, **link_watched;
    struct plua_context *volatile outer_watched; /* the watched run on the same thread whose Swift function has started this run, in another
                                                 ** state */

    /* Deterministic states: keys of tables have a fixed order, and objects have numbers instead of addresses. */
    bool is_deterministic;
    uint64_t object_count;   /* the number of objects created so far */
    const void *last_object; /* the object that was created last */
    ptrdiff_t userdata_offsets[3], thread_offset; /* the distance from the start of an object's block to its address in Lua; for userdata,
                                                  ** by the number of user values */
    uint64_t shown_count; /* the number of objects whose number has been shown */
    lua_CFunction format_function; /* Lua's own string.format */
    plua_cursor cursors[plua_cursor_count];
    uint64_t cursor_uses;
    void *kept_lists;  /* data of traversals, such as cached lists of keys; or NULL */
    bool free_visitor; /* the reusable function of `pairs` is not in use */

    /* Data of a higher library; not owned. */
    void *extension;

    plua_coverage *coverage; /* or NULL */
    lua_CFunction wrap_function; /* the function that coroutine.wrap returns, which raises errors of its coroutine again; NULL without
                                 ** coroutines */

    uint64_t run_count; /* the number of runs so far; only counted in states with limits */
    uint64_t count;     /* identifies a group of runs whose usage outside of Lua is counted together */
    lua_CFunction pcall_function, xpcall_function; /* the scripts' pcall and xpcall */
    bool raises_again; /* the next error to be raised was caught before; see plua_raise_again */
    bool is_closing; /* finalizers may still call Swift functions, which are rejected */

    /* Whether a driver can resume the running coroutine after an asynchronous call. */
    bool has_driver;
    lua_State *driven; /* the coroutine in which the driver runs the script, for which it is the main one; or NULL */

    /* The Swift side. */
    void *owner;                                  /* not retained */
    int (*call)(lua_State *L, void *function);    /* runs a Swift function; see PLUA_RAISE */

    /* Swift objects whose userdata have been collected. Swift releases them outside of the collector. */
    void **garbage;
    size_t garbage_count, garbage_capacity;

    size_t external;    /* bytes that a higher library has allocated for the current `count`; they count toward the script's memory */
    size_t refused_size; /* the size of the string that was refused last, because Lua tries again */
    int nested_calls;   /* the depth of nested pcalls and xpcalls in a limited state */
    size_t output_left; /* the number of bytes that the script may still print; see plua_limit_output */
} plua_context;

/* Returns the context of the state that L belongs to. [-0, +0, -] */
static inline plua_context *plua_context_of(lua_State *L) {
    return *(plua_context **)lua_getextraspace(L);
}

/* Returns the reason why the run is cancelled, without checking the clock. Never fails. */
static inline int plua_cancel_reason_of(plua_context *context) { return atomic_load(&context->cancel_reason); }
static inline void plua_clear_cancel_reason(plua_context *context) { atomic_store(&context->cancel_reason, PLUA_CANCEL_NONE); }

/* Returns the context whose Lua code is running on this thread, or NULL. */
plua_context *plua_running_context(void);

/* Returns whether the run on this thread must end, according to plua_poll; false without a run. Raises nothing. */
bool plua_is_run_cancelled(void);

/* Creates a state with an empty table of globals and without libraries. Returns NULL if memory runs out. In a deterministic state, nothing
** that scripts can observe depends on addresses. [-0, +0, -] */
lua_State *plua_new_state(void *owner, int (*call)(lua_State *, void *), bool is_deterministic);

/* Closes a state and frees its context. Call plua_take_garbage first. `release` receives every Swift object that is left, including those
** that finalizers release. [-n, +0, -] */
void plua_close_state(lua_State *L, void (*release)(void *object));

/* MARK: - Limits */

/* Checks the flag, the budget, the clock and the memory limit, and cancels the run if necessary. Returns the reason for the cancellation.
** Raises nothing. May be called in SQLite's progress handler. */
int plua_poll(plua_context *context);

/* Like plua_poll, but raises if the run is cancelled. For C code only, without Swift frames to cross. [-0, +0, v] */
void plua_check(lua_State *L);

/* Like plua_check, but only if the hook is armed, because the memory in use has exceeded the limit since Lua's last instruction.
** [-0, +0, v] */
void plua_check_memory(lua_State *L);

/* Subtracts work from the budget, and checks the limits at intervals. `cost` is about one for each element or step. [-0, +0, v] */
void plua_count_work(lua_State *L, int64_t cost);

/* Cancels the state's run, unless it is cancelled already. Any thread may call it; threads other than the run's must then call
** plua_wake. */
void plua_cancel_run(plua_context *context, int reason);

/* Raises the error of a cancelled run, a light userdata that only the host recognizes. [-0, +0, v] */
int plua_raise_cancellation(lua_State *L);

/* Replaces print by a function that writes at most this number of bytes to standard output, and then raises errors of kind "output".
** [-0, +0, -] */
void plua_limit_output(lua_State *L, size_t bytes);

/* Subtracts a number of bytes from the output that the script may still print. If less is left, sets it to 0 and returns false.
** [-0, +0, -] */
bool plua_take_output(lua_State *L, size_t bytes);

/* Sets the count hook of L if the run has a budget or its lines are counted; otherwise removes it. Coroutines that L creates later inherit
** it. [-0, +0, -] */
void plua_reset_hook(lua_State *L);

/* The maximum length of source text that a limited state compiles, in bytes. */
#define PLUA_SOURCE_LIMIT (1024 * 1024)

/* Begin and end watching a run, whose deadline and reason are set, on the calling thread. After the deadline, or after plua_wake, signals
** to this thread arm the hook until the watch ends. Watches on a thread must end in reverse order. The first watch in the process installs
** a handler for SIGURG. */
void plua_begin_watch(plua_context *context);
void plua_end_watch(plua_context *context);

/* Interrupts a cancelled run if it is watched. Any thread may call it. */
void plua_wake(plua_context *context);

/* Watches all runs, even without limits, so that they can be cancelled. Uses this signal instead of SIGURG. Returns 0 or an errno. */
int plua_listen(plua_context *context, int signal_number);

/* Returns the time of CLOCK_MONOTONIC in nanoseconds. */
uint64_t plua_now(void);

/* MARK: - Order */

/* Like lua_next, but keys have a fixed order in a deterministic state. During the traversal, the table may be changed in the same ways as
** in a loop of a script. [-1, +(2|0), e] */
int plua_next_in_order(lua_State *L, int table);

/* Like luaL_tolstring, but with numbers instead of addresses in a deterministic state. [-0, +1, e] */
const char *plua_tolstring(lua_State *L, int index, size_t *length);

/* Returns whether the state is deterministic. [-0, +0, -] */
static inline bool plua_is_deterministic(lua_State *L) { return plua_context_of(L)->is_deterministic; }

/* Returns the number of an object, in the order of creation. Returns 0 for other values and in states that are not deterministic.
** [-0, +0, -] */
uint64_t plua_object_number(lua_State *L, int index);

/* MARK: - Hidden metatables */

/* Hides the metatable on top of the stack: values that have it look plain to scripts and to LuaTable.metatable. [-0, +0, m] */
void plua_hide_metatable(lua_State *L);

/* Pushes the metatable of a value. Pushes nothing and returns false if the value has none, or a hidden one. Needs two free slots.
** [-0, +(0|1), -] */
bool plua_push_metatable(lua_State *L, int index);

/* MARK: - Coverage */

/* Begins to count how often each line of chunks from files runs. Must be called in a state with limits, before anything runs there. Returns
** false if memory runs out. */
bool plua_cover_lines(plua_context *context);

/* The lines that have run, in order. */
typedef struct {
    uint32_t *entries;    /* the first lines; each entry has the number of the file in its upper 12 bits, and the line in the others */
    size_t count;
    uint64_t total, hash; /* the number of all lines, and a hash of them */
} plua_line_trace;

/* Begins to cover lines and to record the order in which they run, up to `limit` lines. Returns false if memory runs out. */
bool plua_trace_lines(plua_context *context, size_t limit);

/* Returns the trace so far, or NULL. */
const plua_line_trace *plua_read_line_trace(plua_context *context);

/* Returns the name of a file in the trace, or NULL. */
const char *plua_traced_file(plua_context *context, size_t file);

/* Calls a function with each line that has run. */
void plua_read_coverage(plua_context *context, void (*take)(void *receiver, const char *file, int line, uint32_t count),
                            void *receiver);

/* MARK: - Errors */

/*
** An error object is a userdata with the fields kind, message and others. Its tostring is "file:line: message"; it can be concatenated with
** strings. Scripts cannot access its metatable. It may contain a Swift error, which the outermost call throws unchanged.
*/

/* Pushes an error object. `format` is the same as for lua_pushfstring. [-0, +1, m] */
void plua_push_error(lua_State *L, const char *kind, const char *format, ...);

/* Pushes an error object whose kind and message are empty, for Swift to set them. [-0, +1, m] */
static inline void plua_push_empty_error(lua_State *L) { plua_push_error(L, "", "%s", ""); }

/* Pops a value and stores it in a field of the error object below it. [-1, +0, m] */
void plua_set_error_field(lua_State *L, const char *name);

/* The prefix of the names of the host's own Lua chunks. Errors in them are attributed to their callers. */
#define PLUA_LIBRARY_CHUNK "=[lib] "

/* If the error object on top of the stack has no position yet, adds the one of the nearest Lua function as the fields `file` and `line`,
** and completes the name of the called function in the message. In this name, the word for the receiver (the value before the colon) is the
** receiver's metafield `__receiver`. [-0, +0, m] */
void plua_add_position(lua_State *L);

/* Finds the innermost running Lua function outside of the host's library chunks, whose position is shown to users. Fills in the fields of
** lua_getinfo for "S" and "l". [-0, +0, -] */
bool plua_find_position(lua_State *L, lua_Debug *activation);

/* Returns the name by which a script has called the innermost function across which Lua cannot yield. Returns NULL if the name is unknown.
** The string is valid while the function is on the stack. [-0, +0, -] */
const char *plua_find_unwaiting_caller(lua_State *L);

/* Writes the position of the script that a plua_context is running, as "file:line" with a NUL, into a buffer of `size` bytes. Writes
** nothing if no script is running. A signal handler may call it on the thread that runs the state, while the process is ending.
** [-0, +0, -] */
void plua_describe_place(void *context, char *place, size_t size);

/* Returns whether the value is an error object. [-0, +0, -] */
bool plua_is_error(lua_State *L, int index);

/* Returns the address of the Swift error that an error object contains; that error is NULL if none was set. Returns NULL for values that
** are not error objects. [-0, +0, -] */
void **plua_error_payload(lua_State *L, int index);

/* Pushes the table of the error object's fields. [-0, +1, -] */
void plua_push_error_fields(lua_State *L, int index);

/* Raises an error object of kind "argument": "function: argument N: expected ..., got ...". For C code only. `argument` is the position in
** the script's call; for a method, 1 is the first argument after self. [-0, +0, v] */
int plua_argument_error(lua_State *L, const char *function, int argument, const char *expected, int index);

/* Raises an error object with a position. For C code only. [-0, +0, v] */
int plua_raise(lua_State *L, const char *kind, const char *format, ...);

/* For Lua libraries: (kind, message[, fields]) raises an error object with these fields. [-n, +0, v] */
int plua_raise_error(lua_State *L);

/* For Lua libraries: () returns the file and line of the nearest Lua function outside of the library; nothing if none exists.
** [-n, +(0|2), m] */
int plua_position(lua_State *L);

/* (value, fields) returns the value. If it is an error object, adds the fields that it lacks. [-n, +1, v] */
int plua_add_error_fields(lua_State *L);

/* The size of the buffer for the description of a plain value. */
enum { PLUA_DESCRIPTION_SIZE = 96 };

/* A plain value, which is neither a table nor a userdata. For tables and userdata, only the type is set. */
typedef struct {
    int type; /* the Lua type */
    bool is_integer;
    lua_Integer integer; /* or a boolean */
    lua_Number number;
    const char *bytes;
    size_t length;
} plua_plain;

/* Writes the description of a value for messages, like `the integer 5`, without a NUL. Returns its length. Long strings are shortened. */
size_t plua_describe_plain(char *target, const plua_plain *value);

/* Pushes and returns the description of a value for messages: `the string "x"`, or for objects the metafield `__described`, or else
** `__name` with an article. [-0, +1, m] */
const char *plua_describe(lua_State *L, int index);

/* For Lua libraries: (value) returns its description. [-n, +1, v] */
int plua_describe_argument(lua_State *L);

/* Calls the function below `argument_count` arguments in a protected call, whose message handler stores the traceback and position of an
** error. Allocations inside the call may be refused. Returns a Lua status; on failure the error value is on top of the stack.
** [-(argument_count + 1), +(result_count|1), -] */
int plua_pcall(lua_State *L, int argument_count, int result_count);

/* Runs a coroutine like lua_resume, but allocations inside it may be refused. Stores the traceback and position of a failure. Returns a Lua
** status. [-?, +?, -] */
int plua_resume(lua_State *coroutine, lua_State *from, int argument_count, int *result_count);

/* Raises the error value on top of the stack, which plua_pcall has just caught, without changing the stored details of its failure.
** [-1, +0, v] */
int plua_raise_again(lua_State *L);

/* Like lua_error. If a function of a native module would catch an error object, raises the object's text instead, because such functions
** read messages by lua_tostring. [-1, +0, v] */
int plua_throw(lua_State *L);

/* A lua_CFunction: returns a list of the paths of native modules that scripts have loaded. [-0, +1, m] */
int plua_native_libraries(lua_State *L);

/* Stores the functions pcall and xpcall of the table of globals, which is on top of the stack, in the context. [-0, +0, m] */
void plua_note_protected_calls(lua_State *L);

/* Pushes the stored details of the failure with the error value at `index`: traceback (string or nil), file (string or nil), line (integer
** or nil). Clears them. [-0, +3, -] */
void plua_push_failure(lua_State *L, int index);

/* Pops a traceback, a file and a line, and stores them for the error value below them, which is about to be raised again. [-3, +0, m] */
void plua_restore_failure(lua_State *L);

/* Stores the traceback and position of the failure with the error value at `index`, unless they are already stored. [-0, +0, m] */
void plua_keep_failure(lua_State *L, lua_State *failed, int index);

/* MARK: - Swift functions and objects as Lua values */

/* Pops a metatable and pushes a userdata with this metatable that owns a retained Swift object. When the userdata is collected, the object
** is added to the context's garbage. [-1, +1, m] */
void plua_push_object(lua_State *L, void *object);

/* Pushes a registry table whose key is an address. It is created on first use, with weak keys ("k") or values ("v"). [-0, +1, m] */
void plua_push_weak_table(lua_State *L, const void *key, const char *mode);

/* Pops a metatable and pushes a userdata with this metatable that contains plain bytes. Returns their address. [-1, +1, m] */
void *plua_push_bytes(lua_State *L, size_t size);

/* Returns the Swift object in a userdata of plua_push_object, or NULL after its finalizer has run. [-0, +0, -] */
static inline void *plua_object(lua_State *L, int index) {
    void **block = (void **)lua_touserdata(L, index);
    return block ? *block : NULL;
}

/* The finalizer of userdata from plua_push_object. Can be called repeatedly. [-0, +0, -] */
int plua_collect_object(lua_State *L);

/* Pushes a C closure that calls a retained Swift function object and owns it. [-0, +1, m] */
void plua_push_function(lua_State *L, void *function);

/* Pushes a C closure that calls an asynchronous Swift function. [-0, +1, m] */
void plua_push_async_function(lua_State *L, void *function, const char *name);

/* The light userdata that an asynchronous call yields to its driver. */
extern const char plua_async_marker;

/* Empties the list of garbage. Returns its length and sets `objects` to the array, which the caller must free. */
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

/* Stops garbage collection while the permanent objects of a state are loaded, because each collection would mark all of them.
** [-0, +0, -] */
void plua_begin_loading(lua_State *L);
/* Restarts collection as if one had just ended: the next one begins when the memory in use has doubled. [-0, +0, -] */
void plua_end_loading(lua_State *L);

int plua_open_libraries(lua_State *L, unsigned which); /* `which` consists of PLUA_LIBRARY_... flags. [-0, +0, -] */
int plua_open_limits(lua_State *L);            /* sets the hook and replaces functions, permanently. [-0, +0, -] */
int plua_load(lua_State *L, const char *bytes, size_t length, const char *name); /* text only. [-0, +1, -] */

/* Returns the bytecode of the Lua function on top of the stack, to be freed by plua_free. Returns NULL if memory runs out. [-0, +0, -] */
char *plua_dump(lua_State *L, size_t *length);

/* Loads bytecode from plua_dump or from the build. Other bytecode can corrupt the host's memory. [-0, +1, -] */
int plua_load_compiled(lua_State *L, const char *bytes, size_t length, const char *name);

enum {
    PLUA_LIBRARY_BASE = 1u << 0,
    PLUA_LIBRARY_COROUTINE = 1u << 1,
    PLUA_LIBRARY_TABLE = 1u << 2,
    PLUA_LIBRARY_STRING = 1u << 3,
    PLUA_LIBRARY_MATH = 1u << 4,
    PLUA_LIBRARY_UTF8 = 1u << 5,
    PLUA_LIBRARY_IO = 1u << 6,
    PLUA_LIBRARY_OS = 1u << 7,      /* the whole library; without it, only os.time, date, clock and difftime */
    PLUA_LIBRARY_DEBUG = 1u << 8,   /* the whole library, and the metatable of strings; without it, only debug.traceback */
    PLUA_LIBRARY_LOADFILE = 1u << 9, /* dofile and loadfile */
    PLUA_LIBRARY_BYTECODE = 1u << 10, /* string.dump, and bytecode for load, loadfile and dofile, which otherwise load only text */
    PLUA_LIBRARY_PACKAGE = 1u << 11, /* package, with native modules, and require */
};

/* Macros of lua.h as functions, because Swift cannot use such macros. */
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
