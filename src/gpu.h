/* Launches on a GPU, and what comes back from them: the error of the first thread that stopped itself, and prints.
 *
 * Each launch of a run has a record in the GPU's memory (sn_error), which its threads fill. A word of the host's, which
 * the GPU writes too, says that one of them was filled, so that a run in which all is well reads nothing.
 */
#ifndef SIM_NODE_GPU_H
#define SIM_NODE_GPU_H

#include "driver.h"

enum { SN_MAX_BLOCKS = INT32_MAX }; /* of one launch: CUDA C++ Programming Guide, "Technical Specifications" */

typedef struct sn_reports {
    void *context, *stream;
    uint64_t records;     /* sn_error[count], as the GPU addresses them */
    uint32_t count;
    const sn_error *fresh; /* what the records are when nothing happened */
    volatile uint32_t *flag;
    uint64_t prints; /* sn_prints as the GPU addresses it; 0: no kernel prints */
} sn_reports;

/* Makes the context the calling thread's; `before` is what sn_gpu_leave puts back. */
sn_result sn_gpu_enter(const sn_reports *reports, void **before);
void sn_gpu_leave(const sn_reports *reports, void *before);

/* Begins what sn_gpu_finish ends: an error or prints that a failure of the driver left of the run before are forgotten, since
 * they would be told of the wrong run. */
sn_result sn_gpu_begin(const sn_reports *reports);

/* Gives the GPU a launch, which runs later, behind what it was given before; its arguments are copied at once. */
sn_result sn_gpu_launch(const sn_reports *reports, const sn_launch *launch, uint32_t number);

/* Waits for all that was given, then reads what is to be read and makes the records fresh.
 *
 * `error` is that of the first launch with one, else its code stays 0. What was printed goes behind what `prints` holds, in
 * the order of launches, and of threads in each, up to the thread with the error. Launches are told by their number in a
 * round of so many.
 */
sn_result sn_gpu_finish(const sn_reports *reports, uint32_t round, sn_error *error, sn_prints *prints);

/* Runs the graph of a plan whose reports have a record for each launch of each round. */
sn_result sn_gpu_run(sn_plan *plan, sn_error *error);

/* Copies from and to the GPU's memory, and fills it with a byte; done when they return. */
sn_result sn_gpu_read(const sn_reports *reports, void *to, const void *from, size_t size);
sn_result sn_gpu_write(const sn_reports *reports, void *to, const void *from, size_t size);
sn_result sn_gpu_fill(const sn_reports *reports, void *to, unsigned char value, size_t size);

/* Records an event behind all that was given to the GPU, and waits for it. */
sn_result sn_gpu_record(const sn_reports *reports, void *event);

#endif
