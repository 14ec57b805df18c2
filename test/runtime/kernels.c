/* Kernels with the ABI of ARCHITECTURE.md, so that launches are tested without the compiler. */
#include <stdbool.h>
#include <string.h>

#include "plan.h"

typedef struct {
    void *data;
    int32_t length;
} array;

/* The parameters, which lie behind the dims of the launch. */
static const void *parameters(const void *args) { return (const char *)args + SN_HEAD; }

/* Two dimensions, in any layout: each has the members of those before it. */
typedef struct {
    char *data;
    int32_t shape[2];
    int64_t strides[2];
    const int32_t *index[2];
} grid;

/* Copies as many words of its parameters as `out`, the first one, has. */
void echo(int64_t begin, int64_t end, const void *args, sn_error *error)
{
    (void)error;
    const array *out = parameters(args);
    if (begin < end) memcpy(out->data, out, (size_t)out->length * 8);
}

typedef struct {
    array x, v;
    float k, c, dt;
} step_args;

void step(int64_t begin, int64_t end, const void *args, sn_error *error)
{
    (void)error;
    const step_args *a = parameters(args);
    float *x = a->x.data, *v = a->v.data;
    for (int64_t i = begin; i < end; i++) {
        v[i] += a->dt * (-a->k * x[i] - a->c * v[i]);
        x[i] += a->dt * v[i];
    }
}

typedef struct {
    array x, y;
} copy_args;

void copy(int64_t begin, int64_t end, const void *args, sn_error *error)
{
    const copy_args *a = parameters(args);
    for (int64_t i = begin; i < end; i++) {
        if (i >= a->x.length || i >= a->y.length) {
            *error = (sn_error){1, 0, i, i, i >= a->x.length ? a->x.length : a->y.length};
            return;
        }
        ((float *)a->y.data)[i] = ((const float *)a->x.data)[i];
    }
}

typedef struct {
    int32_t site, thread;
} stop_args;

void stop(int64_t begin, int64_t end, const void *args, sn_error *error)
{
    const stop_args *a = parameters(args);
    if (begin <= a->thread && a->thread < end) *error = (sn_error){1, (uint32_t)a->site, a->thread, 12, 10};
}

/* Waits until another thread makes the first element 1, and makes it 2; gives up, leaving it, after `patience` looks. */
typedef struct {
    array flag;
    int64_t patience;
} wait_args;

void wait(int64_t begin, int64_t end, const void *args, sn_error *error)
{
    (void)begin, (void)end, (void)error;
    const wait_args *a = parameters(args);
    int32_t *flag = a->flag.data;
    for (int64_t i = 0; i < a->patience; i++) {
        if (__atomic_load_n(flag, __ATOMIC_ACQUIRE) != 1) continue;
        __atomic_store_n(flag, 2, __ATOMIC_RELEASE);
        return;
    }
}

/* Doubles each element; thread i is the one of row i / m and column i % m. */
static void twice(int64_t begin, int64_t end, const grid *x, int layout, sn_error *error)
{
    for (int64_t i = begin; i < end; i++) {
        int64_t at[2] = {i / x->shape[1], i % x->shape[1]}, strides[2] = {4 * (int64_t)x->shape[1], 4};
        if (at[0] >= x->shape[0]) {
            *error = (sn_error){1, (uint32_t)layout, i, at[0], x->shape[0]};
            return;
        }
        for (int k = 0; k < 2; k++) {
            if (layout > 0) strides[k] = x->strides[k];
            if (layout > 1 && x->index[k] != NULL) at[k] = x->index[k][at[k]];
        }
        *(float *)(x->data + at[0] * strides[0] + at[1] * strides[1]) *= 2;
    }
}

#define TWICE(name, layout)                                                            \
    void name(int64_t begin, int64_t end, const void *args, sn_error *error)           \
    {                                                                                  \
        twice(begin, end, parameters(args), layout, error);                             \
    }

TWICE(twice_contiguous, 0)
TWICE(twice_strided, 1)
TWICE(twice_indexed, 2)

/* What a thread of a grid sees of its launch, without running it to the end. */
void last(int64_t begin, int64_t end, const void *args, sn_error *error)
{
    (void)begin, (void)args;
    *error = (sn_error){1, 0, end - 1, 0, 0};
}
