/* How a tool is loaded and finds where its functions go: see nvtx.h for the source of ids, layouts and order. */
#include "nvtx.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VERSION = 3 };                     /* NVTX_VERSION */
enum { CALLBACKS = 1, VERSION_INFO = 3 }; /* NvtxExportTableID */
enum { CORE = 1, MODULES = 7, MOST = 16 }; /* NvtxCallbackModule: core, CUDA, OpenCL, CUDA runtime, core2, sync */

/* How many ids each module has, 0 included, which is none. A tool may give up where it misses a module, so all are offered,
 * though only two functions are ever called. */
static const unsigned sizes[MODULES] = {0, 16, 9, 15, 7, 16, 7};
static sn_nvtx_function functions[MODULES][MOST];
static sn_nvtx_function *tables[MODULES][MOST + 1]; /* where each function goes; NULL ends a table */

typedef struct {
    size_t size;
    int (*get_table)(unsigned module, sn_nvtx_function ***table, unsigned *size);
} callbacks; /* NvtxExportTableCallbacks */

typedef struct {
    size_t size;
    uint32_t version, reserved;
    void (*set_version)(uint32_t version);
} version_info; /* NvtxExportTableVersionInfo */

typedef const void *(*export_function)(uint32_t id);

sn_nvtx_function *sn_nvtx_core;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char failure[1024];

static int get_table(unsigned module, sn_nvtx_function ***table, unsigned *size)
{
    if (module == 0 || module >= MODULES) return 0;
    if (table != NULL) *table = tables[module];
    if (size != NULL) *size = sizes[module];
    return 1;
}

static void set_version(uint32_t version) { (void)version; } /* the tool's; no version of a tool is known to need care */

static const void *get_export_table(uint32_t id)
{
    static const callbacks offered = {sizeof offered, get_table};
    static const version_info ours = {sizeof ours, VERSION, 0, set_version};
    return id == CALLBACKS ? (const void *)&offered : id == VERSION_INFO ? (const void *)&ours : NULL;
}

static void fail(const char *path, const char *reason)
{
    snprintf(failure, sizeof failure, "NVTX_INJECTION64_PATH names %s, which is no tool that takes ranges: %s", path, reason);
}

static void load(void)
{
    const char *path = getenv("NVTX_INJECTION64_PATH");
    if (path == NULL || *path == '\0') return;
    void *library = dlopen(path, RTLD_LAZY);
    if (library == NULL) {
        fail(path, dlerror());
        return;
    }
    int (*initialise)(export_function) = NULL;
    void *address = dlsym(library, "InitializeInjectionNvtx2");
    if (address == NULL) {
        fail(path, "it has no function InitializeInjectionNvtx2");
        dlclose(library);
        return;
    }
    memcpy(&initialise, &address, sizeof address); /* C has no conversion from an object's address to a function's */
    for (unsigned module = 1; module < MODULES; module++)
        for (unsigned id = 1; id < sizes[module]; id++) tables[module][id] = &functions[module][id];
    if (initialise(get_export_table) == 0) {
        fail(path, "it failed to start");
        dlclose(library);
        return;
    }
    if (functions[CORE][SN_NVTX_RANGE_PUSH] == NULL || functions[CORE][SN_NVTX_RANGE_POP] == NULL)
        fail(path, "it asks for no ranges of threads");
    else
        __atomic_store_n(&sn_nvtx_core, functions[CORE], __ATOMIC_RELEASE);
}

bool sn_nvtx_open(void)
{
    pthread_once(&once, load);
    return sn_nvtx_core != NULL;
}

const char *sn_nvtx_failure(void) { return failure[0] != '\0' ? failure : NULL; }
