/* What the files of sim_node._native offer to each other through Python objects. */
#ifndef SIM_NODE_MODULE_H
#define SIM_NODE_MODULE_H

#include <Python.h>

int sn_add_ring(PyObject *module);    /* ring_object.c: Ring, Reader */
int sn_add_entry(PyObject *module);   /* entry_object.c: Array, Entry, Plan, launch */
int sn_add_trace(PyObject *module);   /* trace_object.c: Trace */
int sn_add_stepper(PyObject *module); /* stepper_object.c: Stepper */
int sn_add_nvtx(PyObject *module);    /* nvtx_object.c: nvtx_open, nvtx_push, nvtx_pop */

#endif
