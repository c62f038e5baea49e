/*
** Notifications of transactions by other scripts and by Swift.
**
** Callbacks run on the thread of their own state. Therefore changes are copied on the thread that makes them and become notifications when
** the transaction commits; the state's event loop delivers them later.
*/
#include <perilune_arrays.h>

#include "CPeriluneRows/Observers/observers.h"

#include <pthread.h>

/* The maximum number and size of an observer's pending changes. Beyond them, the observer receives a single event, `many`. */
enum { most_notifications = 100000, most_bytes = 64 << 20 };

/* A change, or, if it has no table, the commit of the previous changes. */
typedef struct {
    pdb_change change;
    bool has_lost; /* changes of the transaction were dropped */
} notification;

struct pdb_notification_queue {
    pthread_mutex_t lock;
    notification *notifications;
    size_t first, committed, count, capacity; /* up to `first`: delivered; up to `committed`: committed; the others may be rolled back */
    size_t bytes;
    bool has_lost;
};

static pdb_notification_queue *queue_of(pdb_observer *observer) {
    if (observer->queue) return observer->queue;
    pdb_notification_queue *queue = calloc(1, sizeof *queue);
    if (queue == NULL) return NULL;
    pthread_mutex_init(&queue->lock, NULL);
    observer->queue = queue;
    return queue;
}

static void drop(pdb_notification_queue *queue, size_t count) {
    while (queue->count > count) {
        notification *last = &queue->notifications[--queue->count];
        if (last->change.table) pdb_free_change(&last->change);
    }
}

void pdb_free_notification_queue(pdb_notification_queue *queue) {
    if (queue == NULL) return;
    drop(queue, queue->first);
    free(queue->notifications);
    pthread_mutex_destroy(&queue->lock);
    free(queue);
}

/* Makes room for one more notification. If all notifications were delivered, starts again from the front. */
static bool make_room(pdb_notification_queue *queue) {
    if (queue->first > 0 && queue->first == queue->count) queue->first = queue->committed = queue->count = queue->bytes = 0;
    return PLUA_ADD_ROOM(queue->notifications, queue->count, queue->capacity);
}

void pdb_post_change(pdb_observer *observer, const pdb_change *change) {
    pdb_notification_queue *queue = queue_of(observer);
    if (queue == NULL) return;
    pthread_mutex_lock(&queue->lock);
    bool has_room = queue->count - queue->first < most_notifications && queue->bytes < most_bytes && make_room(queue);
    if (has_room) queue->notifications[queue->count++] = (notification){.change = pdb_copy_change(change, &queue->bytes)};
    else queue->has_lost = true;
    pthread_mutex_unlock(&queue->lock);
}

void pdb_post_end(pdb_observer *observer, bool is_commit) {
    bool is_wanted = is_commit && (pdb_observer_has(observer, PDB_DID_COMMIT) || observer->queue);
    pdb_notification_queue *queue = is_wanted ? queue_of(observer) : atomic_load(&observer->queue);
    if (queue == NULL) return;
    pthread_mutex_lock(&queue->lock);
    if (!is_commit) drop(queue, queue->committed);
    else if (make_room(queue)) queue->notifications[queue->count++] = (notification){.has_lost = queue->has_lost};
    bool has_notifications = queue->count > queue->committed;
    queue->committed = queue->count;
    queue->has_lost = false;
    pthread_mutex_unlock(&queue->lock);
    if (has_notifications) observer->notifier.signal(observer->notifier.object);
}

/* Takes the next notification. If a transaction had too many changes, its commit yields two notifications: first the loss, then the
** commit. */
static bool take(pdb_notification_queue *queue, notification *taken) {
    pthread_mutex_lock(&queue->lock);
    bool is_there = queue->first < queue->committed;
    if (is_there) {
        *taken = queue->notifications[queue->first];
        if (taken->has_lost) queue->notifications[queue->first].has_lost = false;
        else queue->first++;
    }
    pthread_mutex_unlock(&queue->lock);
    return is_there;
}

/* Pushes the function and arguments for a notification. Returns false if there is nothing to call. */
static bool push_call(lua_State *L, pdb_observer *observer, notification *taken, int handle) {
    bool is_change = taken->change.table != NULL, is_loss = !is_change && taken->has_lost;
    int function = is_change || is_loss ? PDB_ON_CHANGE : PDB_DID_COMMIT;
    if (!pdb_observer_has(observer, function)) return false;
    lua_getiuservalue(L, handle, function);
    if (is_change) {
        pdb_push_event(L, &taken->change);
    } else if (is_loss) {
        lua_createtable(L, 0, 1);
        lua_pushliteral(L, "many");
        lua_setfield(L, -2, "operation");
    } else {
        lua_getiuservalue(L, handle, PDB_DID_ROLLBACK + 1);
    }
    return true;
}

/* Pushes the function and the arguments for an observer's next notification. `handle` is the stack index of the observer's userdata. */
static bool push_next(lua_State *L, pdb_observer *observer, int handle) {
    notification taken;
    while (observer->queue && !atomic_load(&observer->is_removed) && take(observer->queue, &taken)) {
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
