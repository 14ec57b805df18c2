/* Ranges with a tool, without one, and with libraries that are none; one process a case, since a tool is loaded once. */
#include "check.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nvtx_tool.c"

static int opened, closed; /* how often */
static int library;        /* its address is the handle */

static void *fake_open(const char *path, int how)
{
    (void)how;
    opened++;
    return strcmp(path, "absent") == 0 ? NULL : &library;
}

static void *fake_symbol(void *handle, const char *name)
{
    CHECK(handle == &library && strcmp(name, "InitializeInjectionNvtx2") == 0);
    int (*start)(const void *(*)(uint32_t)) = InitializeInjectionNvtx2;
    void *address = NULL;
    if (strcmp(getenv("NVTX_INJECTION64_PATH"), "other") != 0) memcpy(&address, &start, sizeof address);
    return address;
}

static int fake_close(void *handle)
{
    CHECK(handle == &library);
    return closed++, 0;
}

static char *fake_error(void)
{
    static char text[] = "no such file";
    return text;
}

#define dlopen fake_open
#define dlsym fake_symbol
#define dlclose fake_close
#define dlerror fake_error
#include "nvtx.c"

static void range(void)
{
    sn_nvtx_push("outer");
    sn_nvtx_push("inner");
    sn_nvtx_pop();
    sn_nvtx_pop();
}

static void check_none(void)
{
    CHECK(!sn_nvtx_open() && sn_nvtx_failure() == NULL && opened == 0);
    range();
}

static void check_failed(const char *reason, int closes)
{
    for (int i = 0; i < 2; i++) CHECK(!sn_nvtx_open());
    CHECK(strstr(sn_nvtx_failure(), reason) != NULL && opened == 1 && closed == closes);
    range();
}

static void check_absent(void) { check_failed("names absent, which is no tool that takes ranges: no such file", 0); }
static void check_other(void) { check_failed("InitializeInjectionNvtx2", 1); }
static void check_refused(void) { check_failed("failed to start", 1); }
static void check_idle(void) { check_failed("asks for no ranges", 0); }

static void check_taken(void)
{
    range(); /* before: nobody listens */
    CHECK(sn_nvtx_open() && sn_nvtx_failure() == NULL);
    range();
    char text[64] = "";
    FILE *file = fopen("ranges", "r");
    CHECK(file != NULL && fread(text, 1, sizeof text - 1, file) > 0 && fclose(file) == 0);
    CHECK(strcmp(text, "+outer\n+inner\n-\n-\n") == 0);
}

enum { THREADS = 8, ROUNDS = 50 };

static void *open_and_range(void *start)
{
    range(); /* nobody listens yet: all wait for each other first */
    pthread_barrier_wait(start);
    CHECK(sn_nvtx_open());
    for (int i = 0; i < ROUNDS; i++) range();
    return NULL;
}

static void check_threads(void)
{
    pthread_t threads[THREADS];
    pthread_barrier_t start;
    CHECK(pthread_barrier_init(&start, NULL, THREADS) == 0);
    for (int i = 0; i < THREADS; i++) CHECK(pthread_create(&threads[i], NULL, open_and_range, &start) == 0);
    for (int i = 0; i < THREADS; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    pthread_barrier_destroy(&start);
    CHECK(opened == 1);
    int pushed = 0, popped = 0, read;
    FILE *file = fopen("ranges", "r");
    CHECK(file != NULL);
    while ((read = fgetc(file)) != EOF) pushed += read == '+', popped += read == '-';
    fclose(file);
    CHECK(pushed == 2 * THREADS * ROUNDS && popped == pushed);
}

static void run(void (*check)(void), const char *path, const char *setting)
{
    unlink("ranges");
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        unsetenv("NVTX_INJECTION64_PATH");
        if (path) setenv("NVTX_INJECTION64_PATH", path, 1);
        if (setting) setenv(setting, "1", 1);
        setenv("NVTX_TOOL_FILE", "ranges", 1);
        check();
        exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void)
{
    run(check_none, NULL, NULL);
    run(check_none, "", NULL);
    run(check_absent, "absent", NULL);
    run(check_other, "other", NULL);
    run(check_refused, "tool", "NVTX_TOOL_REFUSE");
    run(check_idle, "tool", "NVTX_TOOL_IDLE");
    run(check_taken, "tool", NULL);
    run(check_threads, "tool", NULL);
    return 0;
}
