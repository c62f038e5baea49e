/*
** What observers are told of the transactions of others: of other scripts, and of Swift.
**
** Their functions run on the thread of their own state. So changes are copied as they are made, by whatever thread makes them, and
** become letters when the transaction is committed; the loop of the state has them read later.
*/
#include <perilune_arrays.h>

#include "CPeriluneRows/Observers/observers.h"

#include <pthread.h>

/* Changes of one observer that wait. Of those beyond it is only told that there were some. */
enum { most_letters = 100000, most_bytes = 64 << 20 };

/* A change, or without a table the commit of those before it. */
typedef struct {
    pdb_change change;
    bool has_lost; /* changes of the transaction */
} letter;

struct pdb_notification_queue {
    pthread_mutex_t lock;
    letter *letters;
    size_t first, committed, count, capacity; /* read up to first; to be read up to committed; the others may be rolled back */
    size_t bytes;
    bool has_lost;
};

static pdb_notification_queue *inbox_of(pdb_observer *observer) {
    if (observer->inbox) return observer->inbox;
    pdb_notification_queue *inbox = calloc(1, sizeof *inbox);
    if (inbox == NULL) return NULL;
    pthread_mutex_init(&inbox->lock, NULL);
    observer->inbox = inbox;
    return inbox;
}

static void drop(pdb_notification_queue *inbox, size_t count) {
    while (inbox->count > count) {
        letter *last = &inbox->letters[--inbox->count];
        if (last->change.table) pdb_free_change(&last->change);
    }
}

void pdb_free_notification_queue(pdb_notification_queue *inbox) {
    if (inbox == NULL) return;
    drop(inbox, inbox->first);
    free(inbox->letters);
    pthread_mutex_destroy(&inbox->lock);
    free(inbox);
}

/* Moves what is left to the front, and makes room for one more. */
static bool make_room(pdb_notification_queue *inbox) {
    if (inbox->first > 0 && inbox->first == inbox->count) inbox->first = inbox->committed = inbox->count = inbox->bytes = 0;
    return PLUA_ADD_ROOM(inbox->letters, inbox->count, inbox->capacity);
}

void pdb_post_change(pdb_observer *observer, const pdb_change *change) {
    pdb_notification_queue *inbox = inbox_of(observer);
    if (inbox == NULL) return;
    pthread_mutex_lock(&inbox->lock);
    bool has_room = inbox->count - inbox->first < most_letters && inbox->bytes < most_bytes && make_room(inbox);
    if (has_room) inbox->letters[inbox->count++] = (letter){.change = pdb_copy_change(change, &inbox->bytes)};
    else inbox->has_lost = true;
    pthread_mutex_unlock(&inbox->lock);
}

void pdb_post_end(pdb_observer *observer, bool is_commit) {
    bool is_told = is_commit && (pdb_observer_has(observer, PDB_DID_COMMIT) || observer->inbox);
    pdb_notification_queue *inbox = is_told ? inbox_of(observer) : atomic_load(&observer->inbox);
    if (inbox == NULL) return;
    pthread_mutex_lock(&inbox->lock);
    if (!is_commit) drop(inbox, inbox->committed);
    else if (make_room(inbox)) inbox->letters[inbox->count++] = (letter){.has_lost = inbox->has_lost};
    bool has_mail = inbox->count > inbox->committed;
    inbox->committed = inbox->count;
    inbox->has_lost = false;
    pthread_mutex_unlock(&inbox->lock);
    if (has_mail) observer->mail.signal(observer->mail.object);
}

/* Takes the next letter; of a commit whose changes were too many, first the loss, and then the commit. */
static bool take(pdb_notification_queue *inbox, letter *taken) {
    pthread_mutex_lock(&inbox->lock);
    bool is_there = inbox->first < inbox->committed;
    if (is_there) {
        *taken = inbox->letters[inbox->first];
        if (taken->has_lost) inbox->letters[inbox->first].has_lost = false;
        else inbox->first++;
    }
    pthread_mutex_unlock(&inbox->lock);
    return is_there;
}

/* Pushes what is to be called for a letter, and with what. Returns false if there is nothing to be called. */
static bool push_call(lua_State *L, pdb_observer *observer, letter *taken, int handle) {
    bool is_change = taken->change.table != NULL, is_loss = !is_change && taken->has_lost;
    int function = is_change || is_loss ? PDB_ON_CHANGE : PDB_DID_COMMIT;
    if (!pdb_observer_has(observer, function)) return false;
    lua_getiuservalue(L, handle, function);
    if (is_change) {
        pdb_push_event(L, &taken->change);
    } else if (is_loss) {
        lua_createtable(L, 0, 1);
        lua_pushliteral(L, "many");
        lua_setfield(L, -2, "kind");
    } else {
        lua_getiuservalue(L, handle, PDB_DID_ROLLBACK + 1);
    }
    return true;
}

/* Pushes the call for the next letter of an observer, whose value is at `handle`. */
static bool push_next(lua_State *L, pdb_observer *observer, int handle) {
    letter taken;
    while (observer->inbox && !atomic_load(&observer->is_removed) && take(observer->inbox, &taken)) {
        bool is_called = push_call(L, observer, &taken, handle);
        if (taken.change.table) pdb_free_change(&taken.change);
        else if (!taken.has_lost && observer->is_once) pdb_remove_observer(L, observer);
        if (is_called) return true;
    }
    return false;
}

int pdb_take_notification(lua_State *L) {
    lua_settop(L, 0);
    pdb_push_observers(L);
    for (lua_pushnil(L); lua_next(L, 1); lua_settop(L, 2)) {
        if (lua_type(L, 3) == LUA_TUSERDATA && push_next(L, *(pdb_observer **)lua_touserdata(L, 3), 3)) return 2;
    }
    return 0;
}
