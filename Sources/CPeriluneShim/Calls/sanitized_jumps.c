/*
** Support for Lua errors in the thread sanitizer.
**
** The sanitizer keeps a shadow stack, which longjmp unwinds. Debian's liblua is built with _FORTIFY_SOURCE and calls
** __longjmp_chk, which the sanitizer does not intercept. Its stack would grow with each error. Allocations, which walk that
** stack, would become slower and slower, and finally the stack would overflow.
*/
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)

#include <setjmp.h>

/* Replaces glibc's function, even for liblua. The sanitizer's longjmp does the rest. */
__attribute__((visibility("default"), no_sanitize("thread"), noreturn)) void __longjmp_chk(jmp_buf target, int value);

void __longjmp_chk(jmp_buf target, int value) {
    longjmp(target, value);
}

#endif
#endif
