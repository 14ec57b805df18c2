/* The clock and the statistics of _native.Stepper. */
#include "stepper_object.h"

#include "plan_object.h"

static sn_stepper_object *sn_self(PyObject *object) { return (sn_stepper_object *)object; }

PyObject *sn_object_run(PyObject *object, PyObject *args, PyObject *names)
{
    static char *keywords[] = {"period_ns", "spin_ns", "ticks", "overrun", "catch_up", "priority", "affinity", "lock_memory",
                               "awaited", "limit_ns", "miss", NULL};
    sn_stepper_object *self = sn_self(object);
    long long period_ns, spin_ns, limit_ns;
    uint64_t ticks, catch_up, awaited;
    int overrun, priority, affinity, lock_memory, miss;
    if (!PyArg_ParseTupleAndKeywords(args, names, "LLO&iO&iipO&Li", keywords, &period_ns, &spin_ns, sn_read_count,
                                     &ticks, &overrun, sn_read_count, &catch_up, &priority, &affinity, &lock_memory, sn_read_count, &awaited,
                                     &limit_ns, &miss))
        return NULL;
    if (self->looping) { /* read and written under the GIL */
        PyErr_SetString(self->busy, "the stepper's loop is running already; stop it first");
        return NULL;
    }
    const sn_pace pace = {.period_ns = period_ns, .spin_ns = spin_ns, .ticks = ticks, .overrun = (sn_overrun)overrun,
                          .catch_up = catch_up, .priority = priority, .affinity = affinity, .lock_memory = lock_memory != 0,
                          .awaited = awaited, .limit_ns = limit_ns, .miss = (sn_miss)miss};
    sn_ending ending;
    self->looping = true;
    Py_BEGIN_ALLOW_THREADS
    ending = sn_loop_run(&self->loop, &self->stepper, &pace);
    Py_END_ALLOW_THREADS
    self->looping = false;
    if (sn_plan_show(self->plan) < 0) return NULL;
    PyObject *failure = ending == SN_FAILED ? sn_stepper_failure(&self->stepper) : Py_NewRef(Py_None);
    return failure ? Py_BuildValue("(iNK)", (int)ending, failure, (unsigned long long)self->stepper.unanswered) : NULL;
}

PyObject *sn_object_stop(PyObject *object, PyObject *unused)
{
    (void)unused;
    sn_loop_stop(&sn_self(object)->loop);
    Py_RETURN_NONE;
}

static PyObject *sn_settle(sn_stepper_object *self)
{
    int interrupted;
    do {
        Py_BEGIN_ALLOW_THREADS
        interrupted = sn_loop_settle(&self->loop);
        Py_END_ALLOW_THREADS
        if (interrupted && PyErr_CheckSignals() < 0) return NULL;
    } while (interrupted);
    Py_RETURN_NONE;
}

PyObject *sn_object_pause(PyObject *object, PyObject *unused)
{
    (void)unused;
    sn_loop_pause(&sn_self(object)->loop, true);
    return sn_settle(sn_self(object));
}

PyObject *sn_object_resume(PyObject *object, PyObject *unused)
{
    (void)unused;
    sn_loop_pause(&sn_self(object)->loop, false);
    Py_RETURN_NONE;
}

PyObject *sn_object_request(PyObject *object, PyObject *count)
{
    sn_stepper_object *self = sn_self(object);
    const unsigned long long ticks = PyLong_AsUnsignedLongLong(count);
    if (PyErr_Occurred()) return NULL;
    if (!self->looping || !atomic_load(&self->loop.paused)) {
        PyErr_SetString(self->busy, "ticks are requested of a loop that is paused; otherwise use tick()");
        return NULL;
    }
    sn_loop_request(&self->loop, ticks);
    return sn_settle(self);
}

/* The histograms of the ticks, then of each input those of age and delay; NULL beyond. */
static sn_histogram *sn_histogram_of(sn_stepper *stepper, unsigned long number)
{
    if (number < SN_HISTOGRAMS) return &stepper->account.histograms[number];
    number -= SN_HISTOGRAMS;
    if (number / 2 >= stepper->options.input_count) return NULL;
    sn_received *const received = &stepper->received[number / 2];
    return number % 2 ? &received->delay : &received->age;
}

PyObject *sn_object_histogram(PyObject *object, PyObject *number)
{
    const unsigned long i = PyLong_AsUnsignedLong(number);
    if (PyErr_Occurred()) return NULL;
    const sn_histogram *h = sn_histogram_of(&sn_self(object)->stepper, i);
    if (h == NULL) return PyErr_Format(PyExc_IndexError, "there is no histogram %lu", i);
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, sizeof h->counts);
    if (bytes == NULL) return NULL;
    for (uint32_t k = 0; k < SN_HISTOGRAM_BUCKETS; k++) {
        const uint64_t count = atomic_load_explicit(&h->counts[k], memory_order_relaxed);
        memcpy(PyBytes_AS_STRING(bytes) + k * sizeof count, &count, sizeof count);
    }
    return Py_BuildValue("(KKN)", (unsigned long long)atomic_load(&h->sum), (unsigned long long)atomic_load(&h->max), bytes);
}

/* (unanswered, unanswered step, late) of an input, which lockstep counts. */
PyObject *sn_object_answers(PyObject *object, PyObject *number)
{
    const sn_stepper *stepper = &sn_self(object)->stepper;
    const Py_ssize_t i = sn_index(number, stepper->options.input_count);
    if (i < 0) return NULL;
    const sn_received *received = &stepper->received[i];
    return Py_BuildValue("(KKK)", (unsigned long long)atomic_load(&received->unanswered),
                         (unsigned long long)atomic_load(&received->unanswered_step),
                         (unsigned long long)atomic_load(&received->late));
}

PyObject *sn_object_counters(PyObject *object, PyObject *unused)
{
    (void)unused;
    const sn_stepper *stepper = &sn_self(object)->stepper;
    PyObject *counters = PyTuple_New(SN_COUNTERS + 2);
    for (int i = 0; counters && i < SN_COUNTERS + 2; i++) {
        const uint64_t count = i < SN_COUNTERS ? atomic_load(&stepper->account.counters[i])
                               : i == SN_COUNTERS ? __atomic_load_n(&stepper->options.ring->control->dropped, __ATOMIC_RELAXED)
                                                  : atomic_load(&stepper->records.lost);
        PyObject *value = PyLong_FromUnsignedLongLong(count);
        if (value == NULL) Py_CLEAR(counters);
        else PyTuple_SET_ITEM(counters, i, value);
    }
    return counters;
}

/* (CLOCK_MONOTONIC when the tick that is being done began, number of its launch), or None. */
PyObject *sn_object_in_flight(PyObject *object, void *closure)
{
    (void)closure;
    const sn_stepper *stepper = &sn_self(object)->stepper;
    const int64_t began_ns = atomic_load(&stepper->began_ns);
    if (began_ns == 0) Py_RETURN_NONE;
    return Py_BuildValue("(LI)", (long long)began_ns, (unsigned)__atomic_load_n(&stepper->error.launch, __ATOMIC_RELAXED));
}

PyObject *sn_object_phase(PyObject *object, void *closure)
{
    (void)closure;
    return PyLong_FromUnsignedLong(atomic_load(&sn_self(object)->loop.phase));
}

PyObject *sn_object_grants(PyObject *object, void *closure)
{
    (void)closure;
    const sn_loop *loop = &sn_self(object)->loop;
    return Py_BuildValue("(iii)", atomic_load(&loop->grants[SN_PRIORITY]), atomic_load(&loop->grants[SN_AFFINITY]),
                         atomic_load(&loop->grants[SN_MEMORY]));
}
