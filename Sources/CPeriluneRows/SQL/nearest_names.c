/* Did you mean: the name that was meant, among those that there are. */
#include "CPeriluneRows/SQL/sql.h"

/* Names that are longer than this are not compared. */
enum { longest_name = 64 };

/* How many letters must be changed, put in or taken out to make one name of the other. */
static int distance(const char *left, const char *right) {
    int row[longest_name + 1];
    size_t width = strlen(right);
    if (strlen(left) > longest_name || width > longest_name) return longest_name;
    for (size_t j = 0; j <= width; j++) row[j] = (int)j;
    for (size_t i = 1; left[i - 1]; i++) {
        int diagonal = row[0];
        row[0] = (int)i;
        for (size_t j = 1; j <= width; j++) {
            bool is_same = (left[i - 1] | 32) == (right[j - 1] | 32);
            int best = diagonal + (is_same ? 0 : 1);
            if (row[j] + 1 < best) best = row[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            diagonal = row[j];
            row[j] = best;
        }
    }
    return row[width];
}

const char *pdb_nearest(lua_State *L, int index, const char *name) {
    const char *nearest = NULL;
    int best = (int)(strlen(name) / 3) + 2;
    for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
        if (lua_type(L, -2) != LUA_TSTRING) continue;
        const char *candidate = lua_tostring(L, -2);
        int found = distance(name, candidate);
        if (found < best || (found == best && nearest && strcmp(candidate, nearest) < 0)) {
            best = found;
            nearest = candidate;
        }
    }
    return nearest;
}
