/* Launches on a GPU and what comes back from them, with a driver of a few lines: order, chunks, the first error, prints,
 * contexts, and a failure at each call. */
#include "check.h"

#include "gpu.c"

enum { COUNT = 6, LAUNCHES = 8, ROUND = 3, PRINTS = 1024, FAILURE = 700 };

typedef struct {
    uint64_t function;
    int64_t begin, end;
    uint64_t record;
    unsigned blocks, block;
} launched;

static launched log_[LAUNCHES];
static void *recorded;
static int log_count, calls, fail_at; /* the number of the call that fails; 0: none does */
static void *current;
static int context, other, stream;
static sn_error records[COUNT], fresh[COUNT];
static uint32_t flag;
static bool is_failing; /* what a launch of the graph leaves: an error and something printed */
static _Alignas(8) unsigned char printed[sizeof(sn_prints) + PRINTS], shown[sizeof(sn_prints) + PRINTS];

static sn_result count(void) { return ++calls == fail_at ? FAILURE : 0; }

/* Of what works on the device, which needs its context and is on its stream. */
static sn_result work(const void *on)
{
    CHECK(current == &context && on == &stream);
    return count();
}

static sn_result get_context(void **to)
{
    *to = current;
    return count();
}

static sn_result set_context(void *to)
{
    const sn_result result = count();
    if (result == 0) current = to;
    return result;
}

static sn_result launch(void *function, unsigned x, unsigned y, unsigned z, unsigned block, unsigned block_y, unsigned block_z,
                        unsigned shared, void *on, void **params, void **extra)
{
    CHECK(y == 1 && z == 1 && block_y == 1 && block_z == 1 && shared == 0 && extra == NULL && log_count < LAUNCHES);
    launched *to = &log_[log_count++];
    *to = (launched){(uintptr_t)function, 0, 0, 0, x, block};
    memcpy(&to->begin, params[0], sizeof to->begin);
    memcpy(&to->end, params[1], sizeof to->end);
    memcpy(&to->record, params[3], sizeof to->record);
    return work(on);
}

static sn_prints *prints_at(unsigned char *memory) { return (sn_prints *)(void *)memory; }

static void fail(uint32_t number, int64_t thread)
{
    records[number] = (sn_error){.code = 1, .site = number, .thread = thread, .launch = number};
    flag = 1;
}

static void print(uint32_t number, int64_t thread, uint64_t word)
{
    sn_prints *to = prints_at(printed);
    const uint32_t site = 5;
    const int64_t words = 1;
    unsigned char *at = to->records + to->used;
    memcpy(at, &number, 4);
    memcpy(at + 4, &site, 4);
    memcpy(at + 8, &thread, 8);
    memcpy(at + 16, &words, 8);
    memcpy(at + SN_RECORD_HEAD, &word, 8);
    to->used += SN_RECORD_HEAD + 8;
}

static sn_result launch_graph(void *graph, void *on)
{
    CHECK(graph == &log_);
    const sn_result result = work(on);
    if (result == 0 && is_failing) {
        fail(4, 1);
        print(0, 0, 1);
    }
    return result;
}

static sn_result wait(void *on) { return work(on); }

static sn_result copy_from(void *to, uint64_t from, size_t size, void *on)
{
    const sn_result result = work(on);
    if (result == 0) memcpy(to, (const void *)(uintptr_t)from, size);
    return result;
}

static sn_result copy_to(uint64_t to, const void *from, size_t size, void *on)
{
    const sn_result result = work(on);
    if (result == 0) memcpy((void *)(uintptr_t)to, from, size);
    return result;
}

static sn_result fill(uint64_t to, unsigned char value, size_t size, void *on)
{
    const sn_result result = work(on);
    if (result == 0) memset((void *)(uintptr_t)to, value, size);
    return result;
}

static sn_result elapsed(float *to, void *first, void *second)
{
    (void)first, (void)second;
    *to = 0;
    return count();
}

static sn_result record(void *event, void *on)
{
    const sn_result result = work(on);
    if (result == 0) recorded = event;
    return result;
}

static void empty(unsigned char *memory)
{
    sn_prints_forget(prints_at(memory));
    prints_at(memory)->capacity = PRINTS;
}

static sn_reports start(void)
{
    sn_driver_functions =
        (sn_driver){get_context, set_context, launch, launch_graph, wait, copy_from, copy_to, fill, elapsed, record};
    for (uint32_t i = 0; i < COUNT; i++) fresh[i] = (sn_error){.thread = INT64_MAX, .launch = i};
    memcpy(records, fresh, sizeof records);
    log_count = calls = fail_at = 0;
    flag = 0;
    current = &other;
    empty(printed);
    empty(shown);
    return (sn_reports){&context, &stream, (uintptr_t)records, COUNT, fresh, &flag, (uintptr_t)printed};
}

static void check_shown(const uint64_t *words, uint64_t many)
{
    const sn_prints *found = prints_at(shown);
    CHECK(found->used == many * (SN_RECORD_HEAD + 8));
    for (uint64_t i = 0; i < many; i++) {
        uint64_t word;
        uint32_t number;
        memcpy(&number, found->records + i * (SN_RECORD_HEAD + 8), 4);
        memcpy(&word, found->records + i * (SN_RECORD_HEAD + 8) + SN_RECORD_HEAD, 8);
        CHECK(word == words[i] && number < ROUND);
    }
}

static void check_chunks(void)
{
    const sn_reports reports = start();
    const int64_t most = (int64_t)SN_MAX_BLOCKS * 128;
    const uintptr_t address = 4096;
    sn_launch one = {NULL, NULL, most + 1, 128, INT64_MAX, SN_MAX_BLOCKS};
    memcpy(&one.kernel, &address, sizeof one.kernel);
    void *before;
    CHECK(sn_gpu_enter(&reports, &before) == 0 && before == &other && current == &context);
    CHECK(sn_gpu_launch(&reports, &one, 2) == 0 && log_count == 2);
    CHECK(log_[0].begin == 0 && log_[0].end == most && log_[0].blocks == SN_MAX_BLOCKS && log_[0].block == 128);
    CHECK(log_[1].begin == most && log_[1].end == most + 1 && log_[1].blocks == 1);
    for (int i = 0; i < 2; i++) CHECK(log_[i].function == 4096 && log_[i].record == (uintptr_t)&records[2]);
    one.threads = 0;
    CHECK(sn_gpu_launch(&reports, &one, 0) == 0 && log_count == 2);
    one.pairs_from = 257; /* from so many on a thread of the GPU's runs two */
    for (one.threads = 256; one.threads <= 257; one.threads++) CHECK(sn_gpu_launch(&reports, &one, 0) == 0);
    CHECK(log_[2].end == 256 && log_[2].blocks == 2 && log_[3].end == 257 && log_[3].blocks == 2);
    one.threads = 4 * 256;
    CHECK(sn_gpu_launch(&reports, &one, 0) == 0 && log_[4].blocks == 4);
    one.most_blocks = 3; /* of 1024 threads 384 a piece, in pairs but for the last */
    CHECK(sn_gpu_launch(&reports, &one, 0) == 0 && log_count == 8);
    CHECK(log_[5].end == 384 && log_[5].blocks == 2 && log_[7].begin == 768 && log_[7].end == 1024 && log_[7].blocks == 2);
    sn_gpu_leave(&reports, before);
    CHECK(current == &other);
}

/* The first launch of the first round tells; what is printed behind its thread is left out, the rest is in order. */
static void check_reports(void)
{
    const sn_reports reports = start();
    fail(5, 1);
    fail(4, 7); /* the second launch of the second round */
    print(5, 0, 9);
    print(4, 8, 8);
    print(4, 7, 4);
    print(4, 7, 5);
    print(0, 3, 2);
    print(2, 0, 3);
    print(0, 1, 1);
    current = &context;
    sn_error error = {.prints = prints_at(shown)};
    CHECK(sn_gpu_finish(&reports, ROUND, &error, error.prints) == 0);
    CHECK(error.code == 1 && error.site == 4 && error.thread == 7 && error.launch == 1 && error.prints == prints_at(shown));
    CHECK(memcmp(records, fresh, sizeof records) == 0 && flag == 0);
    check_shown((const uint64_t[]){1, 2, 3, 4, 5}, 5);
    CHECK(prints_at(printed)->used == 0 && prints_at(shown)->lost == 0);
    print(1, 0, 6); /* the run after that knows nothing of it */
    sn_error next = {.prints = prints_at(shown)};
    CHECK(sn_gpu_finish(&reports, ROUND, &next, next.prints) == 0 && next.code == 0);
    check_shown((const uint64_t[]){1, 2, 3, 4, 5, 6}, 6);
}

static void check_what_does_not_fit(void)
{
    const sn_reports reports = start();
    current = &context;
    prints_at(shown)->capacity = 2 * (SN_RECORD_HEAD + 8);
    for (uint32_t i = 0; i < 4; i++) print(0, i, i);
    prints_at(printed)->lost = 3;
    prints_at(printed)->end = prints_at(printed)->used;
    prints_at(printed)->used += 3 * SN_RECORD_HEAD;
    sn_error error = {0};
    CHECK(sn_gpu_finish(&reports, ROUND, &error, prints_at(shown)) == 0);
    check_shown((const uint64_t[]){0, 1}, 2);
    CHECK(prints_at(shown)->lost == 2 + 3);
}

/* The run after one that the driver failed tells its own error and prints, and nothing else. */
static void check_forgotten(sn_plan *plan)
{
    for (int i = 0; i < 2; i++) {
        is_failing = i == 1;
        fail_at = 0;
        empty(shown);
        sn_error error = {.prints = prints_at(shown)};
        CHECK(sn_gpu_run(plan, &error) == 0 && error.code == (uint32_t)i && prints_at(printed)->capacity == PRINTS);
        check_shown((const uint64_t[]){1}, (uint64_t)i);
    }
}

/* Whatever the driver answers where, that is the result, and the thread's context is what it was. */
static void check_failures(void)
{
    uint32_t word = 0;
    for (int kind = 0; kind < 4; kind++) {
        for (int at = 1;; at++) {
            const sn_reports reports = start();
            is_failing = true;
            fail_at = at;
            sn_plan plan = {.reports = &reports, .graph = &log_, .launch_count = ROUND};
            sn_error error = {.prints = prints_at(shown)};
            const sn_result result = kind == 0   ? sn_gpu_run(&plan, &error)
                                     : kind == 1 ? sn_gpu_read(&reports, &word, &flag, sizeof word)
                                     : kind == 2 ? sn_gpu_write(&reports, &word, &flag, sizeof word)
                                                 : sn_gpu_fill(&reports, &word, 0x11, sizeof word);
            const bool was_last = calls <= at; /* which puts the context back; nobody can do better */
            if (was_last && result == 0) break;
            CHECK(result == FAILURE && current == &other && error.launch < ROUND);
            if (kind == 0) check_forgotten(&plan);
        }
        CHECK(calls >= 5);
    }
    CHECK(word == 0x11111111);
}

static int followed;

/* What a stepper gives the GPU behind the graph: here a copy, and a note that the graph was there before. */
static sn_result copy_one(void *stepper)
{
    followed = calls;
    uint32_t word;
    return sn_driver_functions.read(&word, (uintptr_t)stepper, sizeof word, &stream);
}

static void check_following(void)
{
    sn_reports reports = start();
    uint32_t there = 5;
    int event;
    const sn_mark marks[] = {{&event, 0, 0}};
    sn_plan plan = {.launch_count = ROUND, .reports = &reports, .graph = &log_, .follow = copy_one, .stepper = &there};
    sn_error error = {.code = 0};
    recorded = NULL;
    CHECK(sn_gpu_run(&plan, &error) == 0 && recorded == NULL && followed > 0);
    plan.marks = marks; /* of a plan that is traced: the last is that of what follows */
    plan.mark_count = 1;
    CHECK(sn_gpu_run(&plan, &error) == 0 && recorded == &event);
    fail_at = calls = 0;
    followed = 0;
    CHECK(sn_gpu_run(&plan, &error) == 0);
    fail_at = followed + 1; /* the copy */
    calls = 0;
    CHECK(sn_gpu_run(&plan, &error) == FAILURE && flag == 1); /* so that the next forgets what this one leaves */
}

static void check_recording(void)
{
    sn_reports reports = start();
    int event;
    recorded = NULL;
    current = &other;
    CHECK(sn_gpu_record(&reports, &event) == 0 && recorded == &event && current == &other);
}

int main(void)
{
    check_following();
    check_recording();
    check_chunks();
    check_reports();
    check_what_does_not_fit();
    check_failures();
    return 0;
}
