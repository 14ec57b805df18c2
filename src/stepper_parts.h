/* What the files of the stepper share. */
#ifndef SIM_NODE_STEPPER_PARTS_H
#define SIM_NODE_STEPPER_PARTS_H

#include "stepper.h"

/* Makes the inputs those of the tick of that step. */
void sn_latch_inputs(sn_stepper *stepper, sn_due due, uint64_t step, int64_t now_ns);

/* Drops what was sent: it must not reach the next run, nor its statistics. */
void sn_forget_inputs(sn_stepper *stepper);

/* The n-th private buffer that does not hold the state. */
uint8_t *sn_spare_buffer(const sn_stepper *stepper, int n);

/* The slot of that number where a GPU keeps fields; NULL where none does. */
uint8_t *sn_device_slot(const sn_stepper *stepper, int slot);

/* Runs the substeps; the last writes `last`, the one before `other`, and so on in turn. */
bool sn_run_substeps(sn_stepper *stepper, uint8_t *const last[SN_BLOCKS], uint8_t *const other[SN_BLOCKS]);

/* Gives a GPU what comes behind the plan's graph: the event of the slot that is filled, copies into it, its commit, and
 * the sums that the host wants. */
sn_result sn_follow(void *stepper);

/* Whether it is a GPU that has a buffer, so that the host cannot touch it. */
bool sn_is_away(const sn_stepper *stepper, const uint8_t *buffer);

/* The hash of a field in buffers that the plan has just written. */
uint64_t sn_hash_written(const sn_stepper *stepper, uint32_t field, uint8_t *const written[SN_BLOCKS]);

#endif
