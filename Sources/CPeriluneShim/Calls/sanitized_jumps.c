/*
** Lua errors under the thread sanitizer.
**
** The sanitizer has a shadow stack, which it unwinds when it intercepts longjmp. Debian's liblua is built with _FORTIFY_SOURCE and calls
** __longjmp_chk, which the sanitizer does not intercept. The shadow stack would grow with each error. Allocations, which traverse it, would
** become slower and slower, until the stack overflows.
*/
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)

#include <setjmp.h>

/* Replaces the function of glibc, for liblua as well. The sanitizer intercepts longjmp. */
__attribute__((visibility("default"), no_sanitize("thread"), noreturn)) void __longjmp_chk(jmp_buf target, int value);

void __longjmp_chk(jmp_buf target, int value) {
    longjmp(target, value);
}

#endif
#endif
