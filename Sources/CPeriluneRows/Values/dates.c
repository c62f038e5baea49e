/*
** Dates: userdata that contain the microseconds since 1970, like Swift's DateTime. This file parses the common text formats. Swift's
** DateScanner parses all formats, and the common ones in the same way.
*/
#include "CPeriluneRows/Values/values.h"

static const char date_metatable_key; /* a registry key */

void pdb_set_date_metatable(lua_State *L) { lua_rawsetp(L, LUA_REGISTRYINDEX, &date_metatable_key); }

void pdb_push_date(lua_State *L, int64_t microseconds) {
    int64_t *block = lua_newuserdatauv(L, sizeof *block, 0);
    *block = microseconds;
    lua_rawgetp(L, LUA_REGISTRYINDEX, &date_metatable_key);
    lua_setmetatable(L, -2);
}

/* MARK: - Reading */

typedef struct {
    const char *at, *end;
} scanner;

static bool take(scanner *scanner, char wanted) {
    if (scanner->at == scanner->end || *scanner->at != wanted) return false;
    scanner->at++;
    return true;
}

static bool take_digit(scanner *scanner, int *number) {
    if (scanner->at == scanner->end || *scanner->at < '0' || *scanner->at > '9') return false;
    *number = *number * 10 + (*scanner->at++ - '0');
    return true;
}

/* Reads exactly `count` digits. */
static bool take_digits(scanner *scanner, int count, int *number) {
    *number = 0;
    while (count-- > 0) {
        if (!take_digit(scanner, number)) return false;
    }
    return true;
}

/* Reads the digits of a fraction. Digits after the sixth are ignored. */
static bool take_microseconds(scanner *scanner, int *number) {
    int count = 0, ignored = 0;
    *number = 0;
    while (count < 6 && take_digit(scanner, number)) count++;
    if (count == 0) return false;
    for (; count < 6; count++) *number *= 10;
    while (take_digit(scanner, &ignored)) ignored = 0;
    return true;
}

static int days_in_month(int month, int year) {
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return month == 2 && is_leap ? 29 : days[month - 1];
}

/* Returns the number of days from 1970 to a day in the years 0 to 9999. Years start in March here, so that the leap day is the last day of
** a year. */
static int64_t days_since_1970(int year, int month, int day) {
    int march_year = month > 2 ? year : year - 1, march_month = month > 2 ? month - 3 : month + 9;
    int shifted = march_year + 400; /* positive, so that division rounds down */
    int leap_days = shifted / 4 - shifted / 100 + shifted / 400 - 97;
    return 365 * (int64_t)march_year + leap_days + (153 * march_month + 2) / 5 + day - 1 - 719468;
}

/* Reads HH:MM, HH:MM:SS or HH:MM:SS.SSS, in UTC. */
static bool take_time(scanner *scanner, int64_t *microseconds) {
    int hour, minute, second = 0, fraction = 0;
    if (!take_digits(scanner, 2, &hour) || !take(scanner, ':') || !take_digits(scanner, 2, &minute)) return false;
    if (take(scanner, ':')) {
        if (!take_digits(scanner, 2, &second)) return false;
        if (take(scanner, '.') && !take_microseconds(scanner, &fraction)) return false;
    }
    take(scanner, 'Z');
    *microseconds = ((hour * 60 + minute) * 60 + second) * INT64_C(1000000) + fraction;
    return hour <= 23 && minute <= 59 && second <= 59;
}

bool pdb_parse_date(const char *bytes, size_t length, int64_t *microseconds) {
    scanner scanner = {bytes, bytes + length};
    int year, month, day;
    bool is_day = take_digits(&scanner, 4, &year) && take(&scanner, '-') && take_digits(&scanner, 2, &month) &&
                  take(&scanner, '-') && take_digits(&scanner, 2, &day);
    if (!is_day || month < 1 || month > 12 || day < 1 || day > days_in_month(month, year)) return false;
    int64_t time = 0;
    if (scanner.at < scanner.end) {
        if (!take(&scanner, ' ') && !take(&scanner, 'T')) return false;
        if (!take_time(&scanner, &time) || scanner.at < scanner.end) return false;
    }
    *microseconds = days_since_1970(year, month, day) * INT64_C(86400000000) + time;
    return true;
}
