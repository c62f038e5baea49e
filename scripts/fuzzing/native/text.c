/* Reads bytes as Lua source text, as a date and as UTF-8. */
#include <stdlib.h>
#include <string.h>

#include "CPeriluneRows/Values/values.h"
#include "CPeriluneShim/Text/source_scanner.h"

static void require(bool holds) {
    if (!holds) abort();
}

/* Scanning a text in pieces must give the same result as scanning it whole. */
static void scan(const char *text, size_t length, size_t piece) {
    static plua_scanner whole, parts;
    plua_scan_begin(&whole);
    plua_scan_begin(&parts);
    bool is_accepted = plua_scan(&whole, text, length), is_accepted_in_parts = true;
    for (size_t at = 0; is_accepted_in_parts && at < length; at += piece) {
        is_accepted_in_parts = plua_scan(&parts, text + at, length - at < piece ? length - at : piece);
    }
    require(is_accepted == is_accepted_in_parts);
    require(whole.line == parts.line);
    require(whole.depth >= 0 && whole.depth <= PLUA_BRACKET_LIMIT);
}

/* The rule of the Unicode standard, table 3-7. */
static bool is_utf8(const unsigned char *bytes, size_t length) {
    for (size_t at = 0; at < length;) {
        unsigned char first = bytes[at++];
        size_t count = first < 0x80 ? 0 : first >= 0xC2 && first <= 0xDF ? 1 : (first & 0xF0) == 0xE0 ? 2 : first >= 0xF0 && first <= 0xF4 ? 3 : 9;
        if (count == 9 || count > length - at) return false;
        for (size_t i = 0; i < count; i++, at++) {
            unsigned char least = 0x80, most = 0xBF;
            if (i == 0 && first == 0xE0) least = 0xA0;
            if (i == 0 && first == 0xED) most = 0x9F;
            if (i == 0 && first == 0xF0) least = 0x90;
            if (i == 0 && first == 0xF4) most = 0x8F;
            if (bytes[at] < least || bytes[at] > most) return false;
        }
    }
    return true;
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size) {
    if (size == 0) return 0;
    /* An exact copy, so that the sanitizer detects reads past its end. */
    size_t length = size - 1;
    char *text = malloc(length ? length : 1);
    memcpy(text, data + 1, length);
    scan(text, length, data[0] % 7 + 1);
    int64_t microseconds;
    (void)pdb_parse_date(text, length, &microseconds);
    require(pdb_is_utf8(text, length) == is_utf8((const unsigned char *)text, length));
    free(text);
    return 0;
}
