#include "gpu.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

sn_driver sn_driver_functions;

#define TRY(call)                                                                                                               \
    do {                                                                                                                        \
        const sn_result result_ = (call);                                                                                       \
        if (result_ != 0) return result_;                                                                                       \
    } while (0)

sn_result sn_gpu_enter(const sn_reports *reports, void **before)
{
    TRY(sn_driver_functions.get_context(before));
    return *before == reports->context ? 0 : sn_driver_functions.set_context(reports->context);
}

void sn_gpu_leave(const sn_reports *reports, void *before)
{
    if (before != reports->context) sn_driver_functions.set_context(before);
}

/* Notes a failure where the next run looks, so that it begins by forgetting what this one leaves. */
static sn_result note(const sn_reports *reports, sn_result result)
{
    if (result != 0) *reports->flag = 1;
    return result;
}

static sn_result forget_errors(const sn_reports *reports)
{
    TRY(sn_driver_functions.write(reports->records, reports->fresh, reports->count * sizeof *reports->fresh, reports->stream));
    *reports->flag = 0;
    return 0;
}

static sn_result forget_prints(const sn_reports *reports, sn_prints *head)
{
    sn_prints_forget(head);
    TRY(sn_driver_functions.write(reports->prints, head, sizeof *head, reports->stream));
    return sn_driver_functions.wait(reports->stream); /* before the head, on somebody's stack, is gone */
}

static sn_result read_head(const sn_reports *reports, sn_prints *head)
{
    TRY(sn_driver_functions.read(head, reports->prints, sizeof *head, reports->stream));
    return sn_driver_functions.wait(reports->stream);
}

sn_result sn_gpu_begin(const sn_reports *reports)
{
    if (*reports->flag == 0) return 0;
    TRY(sn_driver_functions.wait(reports->stream)); /* for whom the flag may yet be set */
    if (reports->prints != 0) {
        sn_prints head;
        TRY(read_head(reports, &head));
        TRY(forget_prints(reports, &head));
    }
    return forget_errors(reports);
}

sn_result sn_gpu_launch(const sn_reports *reports, const sn_launch *launch, uint32_t number)
{
    const int64_t most = (int64_t)launch->most_blocks * launch->block, threads = launch->threads;
    uint64_t record = reports->records + number * sizeof(sn_error);
    void *function;
    memcpy(&function, &launch->kernel, sizeof function);
    for (int64_t begin = 0; begin < threads; begin += most) {
        int64_t end = threads - begin < most ? threads : begin + most;
        const int64_t width = end - begin >= launch->pairs_from ? 2 * (int64_t)launch->block : launch->block;
        const unsigned blocks = (unsigned)((end - begin + width - 1) / width);
        void *params[] = {&begin, &end, launch->args, &record};
        TRY(note(reports,
                 sn_driver_functions.launch(function, blocks, 1, 1, launch->block, 1, 1, 0, reports->stream, params, NULL)));
    }
    return 0;
}

static sn_result read_error(const sn_reports *reports, sn_error *error)
{
    sn_error *records = malloc(reports->count * sizeof *records);
    if (records == NULL) return 2; /* CUDA_ERROR_OUT_OF_MEMORY */
    sn_result result = sn_driver_functions.read(records, reports->records, reports->count * sizeof *records, reports->stream);
    if (result == 0) result = sn_driver_functions.wait(reports->stream);
    sn_prints *const prints = error->prints; /* the host's, and not where the GPU has its own */
    for (uint32_t i = 0; result == 0 && i < reports->count && error->code == 0; i++)
        if (records[i].code) *error = records[i];
    error->prints = prints;
    free(records);
    return result == 0 ? forget_errors(reports) : result;
}

typedef struct {
    uint32_t launch, site;
    int64_t thread;
    uint64_t words;
    uint64_t at; /* where it was, in the order of coming */
} sn_printed;

static int compare(const void *first, const void *second)
{
    const sn_printed *a = first, *b = second;
    if (a->launch != b->launch) return a->launch < b->launch ? -1 : 1;
    if (a->thread != b->thread) return a->thread < b->thread ? -1 : 1;
    return a->at < b->at ? -1 : 1;
}

/* Whether a thread comes behind the one that stopped itself: on the host it would not have run. */
static bool is_behind(const sn_printed *printed, const sn_error *error)
{
    if (error->code == 0) return false;
    return printed->launch != error->launch ? printed->launch > error->launch : printed->thread > error->thread;
}

/* Appends the records of a run, sorted; those that do not fit any more are counted. */
static void append(sn_prints *to, const unsigned char *records, uint64_t kept, sn_printed *order, uint32_t round,
                   const sn_error *error)
{
    uint64_t count = 0;
    for (uint64_t at = 0; at < kept; at += SN_RECORD_HEAD + 8 * order[count++].words) {
        memcpy(&order[count], records + at, SN_RECORD_HEAD);
        order[count].at = at;
    }
    qsort(order, count, sizeof *order, compare);
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t size = SN_RECORD_HEAD + 8 * order[i].words;
        if (is_behind(&order[i], error)) continue;
        if (to->lost > 0 || to->used + size > to->capacity) {
            to->lost++;
            continue;
        }
        memcpy(to->records + to->used, records + order[i].at, size);
        const uint32_t launch = order[i].launch % round;
        memcpy(to->records + to->used, &launch, sizeof launch);
        to->used += size;
    }
}

static sn_result read_prints(const sn_reports *reports, uint32_t round, sn_prints *prints, const sn_error *error)
{
    sn_prints head;
    TRY(read_head(reports, &head));
    if (head.used == 0) return 0;
    const uint64_t kept = head.used < head.end ? head.used : head.end;
    unsigned char *records = malloc(kept + 1);
    sn_printed *order = malloc((kept / SN_RECORD_HEAD + 1) * sizeof *order);
    sn_result result = records == NULL || order == NULL ? 2 : 0;
    if (result == 0) result = sn_driver_functions.read(records, reports->prints + sizeof head, kept, reports->stream);
    if (result == 0) result = sn_driver_functions.wait(reports->stream);
    if (result == 0) {
        append(prints, records, kept, order, round, error);
        prints->lost += head.lost;
        result = forget_prints(reports, &head);
    }
    free(records);
    free(order);
    return result;
}

static sn_result finish(const sn_reports *reports, uint32_t round, sn_error *error, sn_prints *prints)
{
    TRY(sn_driver_functions.wait(reports->stream));
    if (*reports->flag) TRY(read_error(reports, error));
    return reports->prints != 0 && prints != NULL ? read_prints(reports, round, prints, error) : 0;
}

sn_result sn_gpu_finish(const sn_reports *reports, uint32_t round, sn_error *error, sn_prints *prints)
{
    const sn_result result = note(reports, finish(reports, round, error, prints));
    if (error->code) error->launch %= round;
    return result;
}

/* Puts the pieces of the graph where they ran, as the GPU's own clock has them: the last ended just now, and each where
 * the next began. */
static sn_result put_pieces(const sn_plan *plan, int64_t end_ns)
{
    for (uint32_t i = plan->mark_count - 1; i > 0; i--) {
        float took;
        TRY(sn_driver_functions.elapsed(&took, plan->marks[i - 1].event, plan->marks[i].event));
        const int64_t begin_ns = end_ns - (int64_t)(took * 1e6F);
        sn_trace_put(plan->trace, plan->marks[i].work, plan->marks[i].number, begin_ns, end_ns);
        end_ns = begin_ns;
    }
    return 0;
}

static sn_result follow(const sn_plan *plan)
{
    TRY(plan->follow(plan->stepper));
    if (plan->mark_count == 0) return 0;
    return sn_driver_functions.record(plan->marks[plan->mark_count - 1].event, plan->reports->stream);
}

sn_result sn_gpu_run(sn_plan *plan, sn_error *error)
{
    const int64_t began_ns = sn_now_ns();
    void *before;
    TRY(sn_gpu_enter(plan->reports, &before));
    sn_result result = sn_gpu_begin(plan->reports);
    if (result == 0) result = sn_driver_functions.launch_graph(plan->graph, plan->reports->stream);
    if (result == 0 && plan->follow != NULL) result = note(plan->reports, follow(plan));
    plan->host_ns = sn_now_ns() - began_ns;
    if (result == 0) result = sn_gpu_finish(plan->reports, plan->launch_count, error, error->prints);
    if (result == 0 && plan->trace != NULL && plan->mark_count > 0) result = put_pieces(plan, sn_now_ns());
    sn_gpu_leave(plan->reports, before);
    return result;
}

/* Waits for what was given to the GPU with the result, and puts the context back. */
static sn_result settle(const sn_reports *reports, void *before, sn_result result)
{
    if (result == 0) result = sn_driver_functions.wait(reports->stream);
    sn_gpu_leave(reports, before);
    return result;
}

sn_result sn_gpu_read(const sn_reports *reports, void *to, const void *from, size_t size)
{
    void *before;
    TRY(sn_gpu_enter(reports, &before));
    return settle(reports, before, sn_driver_functions.read(to, (uintptr_t)from, size, reports->stream));
}

sn_result sn_gpu_write(const sn_reports *reports, void *to, const void *from, size_t size)
{
    void *before;
    TRY(sn_gpu_enter(reports, &before));
    return settle(reports, before, sn_driver_functions.write((uintptr_t)to, from, size, reports->stream));
}

sn_result sn_gpu_record(const sn_reports *reports, void *event)
{
    void *before;
    TRY(sn_gpu_enter(reports, &before));
    return settle(reports, before, sn_driver_functions.record(event, reports->stream));
}

sn_result sn_gpu_fill(const sn_reports *reports, void *to, unsigned char value, size_t size)
{
    void *before;
    TRY(sn_gpu_enter(reports, &before));
    return settle(reports, before, sn_driver_functions.fill((uintptr_t)to, value, size, reports->stream));
}
