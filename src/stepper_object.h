/* The Python object `_native.Stepper`, in files of what it does. */
#ifndef SIM_NODE_STEPPER_OBJECT_H
#define SIM_NODE_STEPPER_OBJECT_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "loop.h"

enum { SN_SIGNAL_NS = 50000000 }; /* between two looks for Python signals while ticks are done in a row */

typedef struct {
    PyObject_HEAD
    sn_stepper stepper;
    sn_loop loop;
    PyObject *plan, *ring, *busy; /* busy: what is raised where the loop runs */
    int64_t tick_ns;              /* what a tick took last */
    bool open, looping;
} sn_stepper_object;

/* (launch, site, thread, index, length) of the tick that failed, as Plan.run gives it. */
PyObject *sn_stepper_failure(const sn_stepper *stepper);

/* stepper_rows.c: new arrays (PyMem) of the checked rows, or NULL with an exception set. Counts, sizes, plan and ring of
 * the options are set before. */
sn_field *sn_read_fields(const sn_stepper_options *options, PyObject *rows);
sn_input *sn_read_inputs(const sn_stepper_options *options, PyObject *rows);

/* stepper_object.c: the right to tick or look inside, -1 with an exception set where it cannot be had; and to read a
 * count (format O&): negative ones are refused, which K does not. */
int sn_take_right(sn_stepper_object *self);
PyObject *sn_give_right(sn_stepper_object *self, PyObject *result);
Py_ssize_t sn_index(PyObject *value, uint32_t count);
int sn_read_count(PyObject *value, void *count);

/* stepper_replay.c */
PyObject *sn_object_replay(PyObject *object, PyObject *args);

/* stepper_loop.c */
PyObject *sn_object_run(PyObject *object, PyObject *args, PyObject *names);
PyObject *sn_object_stop(PyObject *object, PyObject *unused);
PyObject *sn_object_pause(PyObject *object, PyObject *unused);
PyObject *sn_object_resume(PyObject *object, PyObject *unused);
PyObject *sn_object_request(PyObject *object, PyObject *count);
PyObject *sn_object_histogram(PyObject *object, PyObject *number);
PyObject *sn_object_answers(PyObject *object, PyObject *number);
PyObject *sn_object_counters(PyObject *object, PyObject *unused);
PyObject *sn_object_in_flight(PyObject *object, void *closure);
PyObject *sn_object_phase(PyObject *object, void *closure);
PyObject *sn_object_grants(PyObject *object, void *closure);

#define SN_STEPPER_LOOP_METHODS                                                                                        \
    {"run", (PyCFunction)(void (*)(void))sn_object_run, METH_VARARGS | METH_KEYWORDS,                                  \
     "run(period_ns, spin_ns, ticks, overrun, catch_up, priority, affinity, lock_memory, awaited, limit_ns, miss) -> " \
     "(ending, failure or None, inputs without an answer, a bit each)."},                                              \
    {"stop", sn_object_stop, METH_NOARGS, "stop(): end the loop."},                                                    \
    {"pause", sn_object_pause, METH_NOARGS, "pause(): no tick after this, until resume."},                             \
    {"resume", sn_object_resume, METH_NOARGS, "resume(): go on."},                                                     \
    {"request", sn_object_request, METH_O, "request(count): do so many ticks while paused."},                          \
    {"histogram", sn_object_histogram, METH_O, "histogram(number) -> (sum, max, counts as bytes)."},                   \
    {"answers", sn_object_answers, METH_O, "answers(input) -> (unanswered, step of the last one, late)."},             \
    {"counters", sn_object_counters, METH_NOARGS, "counters() -> ints, and what the ring dropped and records lost."}

#define SN_STEPPER_LOOP_GETSET                                                                                         \
    {"in_flight", sn_object_in_flight, NULL, "(began_ns, launch) of the tick that is being done, or None.", NULL},     \
    {"phase", sn_object_phase, NULL, "0 idle, 1 running, 2 parked.", NULL},                                            \
    {"grants", sn_object_grants, NULL, "Of priority, affinity, memory: -1 not asked, 0 granted, else errno.", NULL}

#endif
