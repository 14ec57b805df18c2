/* A profiler's library that checks what it is offered and writes the ranges of each thread: "+name" and "-", a line each,
 * to the file that NVTX_TOOL_FILE names. NVTX_TOOL_REFUSE: it refuses to start. NVTX_TOOL_IDLE: it asks for no ranges. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <fcntl.h>
#include <string.h>

typedef void (*tool_function)(void);

static int written = -1;

#define NEED(condition)                                                        \
    do {                                                                       \
        if (!(condition)) {                                                    \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);    \
            abort();                                                           \
        }                                                                      \
    } while (0)

static int tool_push(const char *name)
{
    char line[64];
    const int size = snprintf(line, sizeof line, "+%s\n", name);
    NEED(size < (int)sizeof line && write(written, line, (size_t)size) == size);
    return 0;
}

static int tool_pop(void)
{
    NEED(write(written, "-\n", 2) == 2);
    return 0;
}

typedef struct {
    size_t size;
    int (*get)(unsigned, tool_function ***, unsigned *);
} tool_callbacks;

typedef struct {
    size_t size;
    uint32_t version, reserved;
    void (*set)(uint32_t);
} tool_version;

int InitializeInjectionNvtx2(const void *(*export)(uint32_t));

__attribute__((visibility("default"))) int InitializeInjectionNvtx2(const void *(*export)(uint32_t))
{
    static const unsigned sizes[] = {0, 16, 9, 15, 7, 16, 7};
    NEED(export(0) == NULL && export(2) == NULL && export(4) == NULL);
    const tool_version *version = export(3);
    NEED(version != NULL && version->size == sizeof *version && version->version == 3);
    version->set(3);
    const tool_callbacks *callbacks = export(1);
    NEED(callbacks != NULL && callbacks->size == sizeof *callbacks);
    tool_function **table = NULL;
    unsigned size = 0;
    NEED(!callbacks->get(0, &table, &size) && !callbacks->get(7, &table, &size) && table == NULL && size == 0);
    for (unsigned module = 1; module < 7; module++) {
        NEED(callbacks->get(module, &table, &size) == 1 && size == sizes[module]);
        NEED(table[0] == NULL && table[size] == NULL);
        for (unsigned id = 1; id < size; id++) NEED(table[id] != NULL && *table[id] == NULL);
    }
    NEED(callbacks->get(1, &table, NULL) == 1 && callbacks->get(1, NULL, &size) == 1);
    if (getenv("NVTX_TOOL_IDLE")) return 1;
    int (*push)(const char *) = tool_push;
    int (*pop)(void) = tool_pop;
    memcpy(table[9], &push, sizeof push);
    memcpy(table[11], &pop, sizeof pop);
    if (getenv("NVTX_TOOL_REFUSE")) return 0;
    written = open(getenv("NVTX_TOOL_FILE"), O_WRONLY | O_CREAT | O_APPEND, 0600);
    return written >= 0;
}
