/* The functions of NVIDIA's driver that launches and ticks call. Python finds them (device/driver.py): nothing here links
 * to the driver, and a machine without one never comes here. */
#ifndef SIM_NODE_DRIVER_H
#define SIM_NODE_DRIVER_H

#include "plan.h"

typedef struct {
    sn_result (*get_context)(void **context);
    sn_result (*set_context)(void *context);
    sn_result (*launch)(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                        unsigned block_z, unsigned shared, void *stream, void **params, void **extra);
    sn_result (*launch_graph)(void *graph, void *stream);
    sn_result (*wait)(void *stream);
    sn_result (*read)(void *to, uint64_t from, size_t size, void *stream);
    sn_result (*write)(uint64_t to, const void *from, size_t size, void *stream);
    sn_result (*fill)(uint64_t to, unsigned char value, size_t size, void *stream);
    sn_result (*elapsed)(float *milliseconds, void *first, void *second);
    sn_result (*record)(void *event, void *stream);
} sn_driver;

/* CUDA's names of them, in the order of the struct. */
#define SN_DRIVER_NAMES                                                                                                          \
    {"cuCtxGetCurrent", "cuCtxSetCurrent", "cuLaunchKernel", "cuGraphLaunch", "cuStreamSynchronize", "cuMemcpyDtoHAsync",        \
     "cuMemcpyHtoDAsync", "cuMemsetD8Async", "cuEventElapsedTime", "cuEventRecord"}
enum { SN_DRIVER_FUNCTIONS = sizeof(sn_driver) / sizeof(void (*)(void)) };

extern sn_driver sn_driver_functions;

#endif
