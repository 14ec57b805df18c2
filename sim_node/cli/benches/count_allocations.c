/* Counts what a thread allocates: loaded before glibc (LD_PRELOAD), whose own functions it calls. */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static __thread uint64_t allocations;

uint64_t sn_allocations(void) { return allocations; }

void *malloc(size_t size) { return allocations++, __libc_malloc(size); }
void *calloc(size_t count, size_t size) { return allocations++, __libc_calloc(count, size); }
void *realloc(void *memory, size_t size) { return allocations++, __libc_realloc(memory, size); }
void *memalign(size_t alignment, size_t size) { return allocations++, __libc_memalign(alignment, size); }
void *aligned_alloc(size_t alignment, size_t size) { return allocations++, __libc_memalign(alignment, size); }

int posix_memalign(void **memory, size_t alignment, size_t size)
{
    *memory = memalign(alignment, size);
    return *memory ? 0 : ENOMEM;
}
