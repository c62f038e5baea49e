/* Charges the running script for the memory that SQLite allocates and the bytes that it writes. */
#include <perilune_files.h>

#include "CPeriluneRows/State/state.h"

/* Returns the account to charge for allocations on the current thread: that is the running state's account, if the state has limits. */
static psql_account *running_account(void) {
    plua_context *context = plua_running_context();
    if (context == NULL || !context->limited || context->extension == NULL) return NULL;
    pdb_state *rows = context->extension;
    if (rows->account.id == 0) return NULL;
    if (rows->counted_run != context->run_count) {
        rows->counted_run = context->run_count;
        rows->account.countdown = 0;
    }
    if (rows->count != context->count) {
        rows->count = context->count;
        rows->former_balance = psql_account_balance(&rows->account);
    }
    return &rows->account;
}

/*
** Decides whether SQLite may allocate memory: called at intervals, and before an allocation that exceeds the limit. Raises nothing, because
** SQLite calls it. While SQLite compiles a statement, this is the only check. Memory is not refused where GRDB would end the process, such
** as when it binds an argument or defines a function. In that case the run ends at its next check.
*/
static bool allows(void *owner, size_t size) {
    pdb_state *rows = owner;
    plua_context *context = rows->context;
    psql_account *account = &rows->account;
    int64_t growth = psql_account_balance(account) - rows->former_balance + (int64_t)size;
    context->external = growth > 0 ? (size_t)growth : 0;
    int reason = plua_poll(context);
    size_t used = context->used + context->external;
    account->bound = context->limit == 0 ? INT64_MAX : account->taken + (int64_t)(used < context->limit ? context->limit - used + size : 0);
    return reason == PLUA_CANCEL_NONE || !(context->may_refuse || rows->may_refuse_memory);
}

/* Decides whether SQLite may write a number of bytes. Raises nothing, because SQLite calls it. */
static bool may_write(int size) {
    plua_context *context = plua_running_context();
    if (context == NULL) return true;
    context->usage.bytes_written += size;
    if (context->disk_left == INT64_MAX) return true;
    context->disk_left -= context->disk_left < 0 ? 0 : size;
    if (context->disk_left >= 0) return true;
    plua_cancel_run(context, PLUA_CANCEL_DISK);
    return false;
}

void pdb_open_memory(pdb_state *rows) {
    psql_open_account(&rows->account, allows, rows);
    psql_charge_to(running_account);
    psql_ask_before_writes(may_write);
}
