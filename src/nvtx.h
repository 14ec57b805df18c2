/* Ranges for profilers such as Nsight Systems, which show them as NVTX ranges of the thread that pushed and popped them.
 *
 * This is a client of NVTX v3 without its headers: the protocol, ids and layouts are those of NVIDIA/NVTX, branch release-v3,
 * c/include/nvtx3/nvtxDetail (nvtxTypes.h, nvtxInit.h, nvtxImpl.h). A profiler names its library in NVTX_INJECTION64_PATH;
 * where nothing is named nothing is loaded, and a range costs a load and a branch.
 */
#ifndef SIM_NODE_NVTX_H
#define SIM_NODE_NVTX_H

#include <stdbool.h>
#include <stddef.h>

typedef void (*sn_nvtx_function)(void); /* called only as the type that its id has */

/* Ids of functions in NVTX's module of core functions (NvtxCallbackIdCore): those of the domain that has no name. */
enum { SN_NVTX_RANGE_PUSH = 9, SN_NVTX_RANGE_POP = 11 };

/* What the tool has put for each id, and may change at any time; NULL: no tool listens. */
extern sn_nvtx_function *sn_nvtx_core;

/* Loads the tool that the environment names, at the first call in a process; later calls, of any thread, wait for that one.
 * Allocates, and runs code of the tool: not for a tick. Returns whether a tool listens. */
bool sn_nvtx_open(void);

/* Why the tool that the environment names does not listen, after sn_nvtx_open; NULL: it does, or none is named. */
const char *sn_nvtx_failure(void);

/* Begins a range of the calling thread inside of those that it has begun; the tool copies the name. */
static inline void sn_nvtx_push(const char *name)
{
    const sn_nvtx_function *core = __atomic_load_n(&sn_nvtx_core, __ATOMIC_ACQUIRE);
    if (core == NULL) return;
    const sn_nvtx_function push = __atomic_load_n(&core[SN_NVTX_RANGE_PUSH], __ATOMIC_RELAXED);
    if (push != NULL) ((int (*)(const char *))push)(name);
}

/* Ends the range that the calling thread began last. */
static inline void sn_nvtx_pop(void)
{
    const sn_nvtx_function *core = __atomic_load_n(&sn_nvtx_core, __ATOMIC_ACQUIRE);
    if (core == NULL) return;
    const sn_nvtx_function pop = __atomic_load_n(&core[SN_NVTX_RANGE_POP], __ATOMIC_RELAXED);
    if (pop != NULL) ((int (*)(void))pop)();
}

#endif
