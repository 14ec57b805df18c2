/* The life of a process: its pid in bits 0–21 (PID_MAX_LIMIT is 2^22) and its start time (proc(5), field 22) in bits
 * 22–55; bits 56–63 say which of its readers is meant. A reused pid is another life. */
#ifndef SIM_NODE_RING_LIFE_H
#define SIM_NODE_RING_LIFE_H

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SN_NONE UINT64_MAX
#define SN_LIFE UINT64_C(0x00ffffffffffffff)

static inline uint32_t sn_life_pid(uint64_t life) { return (uint32_t)(life & 0x3fffff); }
static inline uint64_t sn_life_start(uint64_t life) { return (life & SN_LIFE) >> 22; }

/* The life of the process that now has this pid: 0 if none or a zombie, SN_NONE if /proc does not tell. */
static inline uint64_t sn_life_of(uint32_t pid)
{
    char path[32], text[512];
    snprintf(path, sizeof path, "/proc/%u/stat", pid);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        /* of another user's process /proc may tell nothing (its option hidepid), but a signal is refused and not lost */
        if (errno != ENOENT || pid == 0) return errno == ENOENT ? 0 : SN_NONE;
        return kill((pid_t)pid, 0) == 0 || errno == EPERM ? SN_NONE : 0;
    }
    ssize_t length = read(file, text, sizeof text - 1);
    int gone = length < 0 && errno == ESRCH;
    close(file);
    if (length <= 0) return gone ? 0 : SN_NONE;
    text[length] = 0;
    char *at = strrchr(text, ')'); /* the name before it may hold anything */
    if (at == NULL || at[1] == 0) return SN_NONE;
    if (at[2] == 'Z' || at[2] == 'X') return 0;
    for (int field = 2; field < 22; field++) {
        at = strchr(at + 1, ' ');
        if (at == NULL) return SN_NONE;
    }
    return ((strtoull(at, NULL, 10) << 22) | pid) & SN_LIFE;
}

static inline uint64_t sn_life_self(void) { return sn_life_of((uint32_t)getpid()); }

/* Whether the process is surely gone. */
static inline int sn_life_ended(uint64_t life)
{
    uint64_t now = sn_life_of(sn_life_pid(life));
    return now != SN_NONE && now != (life & SN_LIFE);
}

static inline uint64_t sn_pid_namespace(void)
{
    struct stat found;
    return stat("/proc/self/ns/pid", &found) == 0 ? (uint64_t)found.st_ino : 0;
}

#endif
