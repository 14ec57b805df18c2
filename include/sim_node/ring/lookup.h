/* How a client finds the ring of a name: as a file in /dev/shm, or handed out by its producer, through a socket. */
#ifndef SIM_NODE_RING_LOOKUP_H
#define SIM_NODE_RING_LOOKUP_H

#include <limits.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include "segment.h"

#define SN_GROUPS 1024   /* of a process, that sn_ring_open looks at; and of a producer, that its kernel tells */
#define SN_ANSWER_S 2    /* seconds that a producer has to hand its memory out */

/* Whose ring is looked for: that of a user ("", its uid), or of a group ("g", its gid). */
typedef struct {
    const char *kind;
    unsigned id;
} sn_whose;

/* Write where a ring is, without what is before the name `sim_node.…`; returns its length, -1 when it does not fit. */
static inline int sn_name_place(char *text, size_t size, const char *folder, sn_whose whose, const char *name)
{
    const int start = snprintf(text, size, "%ssim_node.%s%u.", folder, whose.kind, whose.id);
    if (start < 0 || (size_t)start >= size) return -1;
    const int length = snprintf(text + start, size - (size_t)start, "%s", *name == '/' ? name + 1 : name);
    if (length < 0 || (size_t)(start + length) >= size) return -1;
    for (char *at = text + start; *at != 0; at++)
        if (*at == '/') *at = '.';
    return start + length;
}

/* Open a file of the ring's; returns its descriptor, -1 with errno set: ENOENT, there is none. */
static inline int sn_open_file(sn_whose whose, const char *name)
{
    char path[PATH_MAX];
    struct stat found;
    if (sn_name_place(path, sizeof path, "/dev/shm/", whose, name) < 0) return errno = ENOENT, -1;
    const int file = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0) return -1;
    if (fstat(file, &found) == 0 && (*whose.kind ? found.st_gid : found.st_uid) == whose.id) return file;
    close(file);
    return errno = EACCES, -1;
}

/* Whether the process at the other end is of a user or a group, or is root, who makes rings for any group. */
static inline int sn_peer_is(int peer, sn_whose whose)
{
    struct ucred who;
    gid_t groups[SN_GROUPS];
    socklen_t size = sizeof who;
    if (getsockopt(peer, SOL_SOCKET, SO_PEERCRED, &who, &size) < 0) return 0;
    if (*whose.kind == 0) return who.uid == whose.id;
    if (who.uid == 0 || who.gid == whose.id) return 1;
    size = sizeof groups;
    if (getsockopt(peer, SOL_SOCKET, SO_PEERGROUPS, groups, &size) < 0) return 0;
    for (socklen_t i = 0; i < size / sizeof *groups; i++)
        if (groups[i] == whose.id) return 1;
    return 0;
}

/* Receive one descriptor of memory that nobody can make shorter; -1 with errno set. */
static inline int sn_receive_memory(int peer)
{
    char said[512];
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int))];
    } sent;
    struct iovec part = {said, sizeof said};
    struct msghdr message;
    memset(&message, 0, sizeof message);
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = &sent;
    message.msg_controllen = sizeof sent;
    if (recvmsg(peer, &message, MSG_CMSG_CLOEXEC) < 0) return -1;
    const struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    if (head == NULL || head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) return errno = EACCES, -1;
    int file;
    memcpy(&file, CMSG_DATA(head), sizeof file);
    const int seals = fcntl(file, F_GET_SEALS);
    if (seals >= 0 && (seals & F_SEAL_SHRINK) && (seals & F_SEAL_GROW)) return file;
    close(file);
    return errno = EACCES, -1;
}

/* Ask the producer of the ring for its memory; returns a descriptor, -1 with errno set: ENOENT, there is none. */
static inline int sn_ask_producer(sn_whose whose, const char *name)
{
    struct sockaddr_un address;
    memset(&address, 0, sizeof address);
    address.sun_family = AF_UNIX;
    char text[sizeof address.sun_path]; /* one more than fits behind the zero, for the one at its end */
    const int length = sn_name_place(text, sizeof text, "", whose, name);
    if (length < 0) return errno = ENOENT, -1;
    memcpy(address.sun_path + 1, text, (size_t)length);
    const int peer = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (peer < 0) return -1;
    const struct timeval limit = {SN_ANSWER_S, 0};
    int file = -1;
    if (setsockopt(peer, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0 &&
        setsockopt(peer, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) == 0) {
        const socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
        if (connect(peer, (const struct sockaddr *)&address, size) < 0) errno = errno == ECONNREFUSED ? ENOENT : errno;
        else if (!sn_peer_is(peer, whose)) errno = EACCES;
        else file = sn_receive_memory(peer);
    }
    const int error = errno;
    close(peer);
    return errno = error, file;
}

/* Map the ring of a node of this user, or else of one of this process's groups, by the node's name (/arm/plant) or the
 * ring's (arm.plant); returns NULL or why not. For C and C++ controllers. */
static inline const char *sn_ring_open(sn_ring *r, const char *name)
{
    struct stat found;
    gid_t groups[SN_GROUPS + 1];
    int count = getgroups(SN_GROUPS, groups), file = -1;
    if (count < 0) count = 0; /* there are more: the effective one is looked at */
    groups[count] = getegid();
    errno = ENOENT;
    for (int i = -1; file < 0 && errno == ENOENT && i <= count; i++) {
        const sn_whose whose = {i < 0 ? "" : "g", i < 0 ? (unsigned)geteuid() : (unsigned)groups[i]};
        file = sn_open_file(whose, name);
        if (file < 0 && errno == ENOENT) file = sn_ask_producer(whose, name);
    }
    if (file < 0) return errno == ENOENT ? "there is no segment of that name" : "the segment may not be opened";
    void *memory = MAP_FAILED;
    if (fstat(file, &found) == 0 && found.st_size > 0)
        memory = mmap(NULL, (size_t)found.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (memory == MAP_FAILED) return "the segment is empty, or cannot be mapped";
    const char *wrong = sn_ring_attach(r, memory, (uint64_t)found.st_size);
    if (wrong != NULL) munmap(memory, (size_t)found.st_size);
    return wrong;
}

#endif
