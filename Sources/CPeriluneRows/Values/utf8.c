/* Validation of UTF-8. */
#include "CPeriluneRows/Values/values.h"

bool pdb_is_utf8(const char *bytes, size_t length) {
    const unsigned char *c = (const unsigned char *)bytes, *end = c + length;
    while (c < end) {
        if (*c < 0x80) {
            c++;
            continue;
        }
        int count = *c >= 0xF0 && *c <= 0xF4 ? 3 : *c >= 0xE0 && *c < 0xF0 ? 2 : *c >= 0xC2 && *c < 0xE0 ? 1 : 0;
        if (count == 0 || end - c <= count) return false;
        if ((*c == 0xE0 && c[1] < 0xA0) || (*c == 0xED && c[1] > 0x9F) || (*c == 0xF0 && c[1] < 0x90) ||
            (*c == 0xF4 && c[1] > 0x8F)) return false;
        for (int i = 1; i <= count; i++) {
            if ((c[i] & 0xC0) != 0x80) return false;
        }
        c += count + 1;
    }
    return true;
}
