/*
** Has the thread sanitizer see the jumps of Lua's errors.
**
** It keeps a stack of its own, which a longjmp takes back. Debian's liblua is built with _FORTIFY_SOURCE, so that it calls
** __longjmp_chk, which the sanitizer does not know: its stack would grow with each error, each allocation, which walks that stack,
** would take longer, and in the end it would overflow.
*/
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)

#include <setjmp.h>

/* In the place of glibc's function, also for liblua. The sanitizer's own longjmp does what is left to do. */
__attribute__((visibility("default"), no_sanitize("thread"), noreturn)) void __longjmp_chk(jmp_buf target, int value);

void __longjmp_chk(jmp_buf target, int value) {
    longjmp(target, value);
}

#endif
#endif
