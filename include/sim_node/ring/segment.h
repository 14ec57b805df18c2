/* A segment: what lies where, and how it is made and taken up. */
#ifndef SIM_NODE_RING_SEGMENT_H
#define SIM_NODE_RING_SEGMENT_H

#include <sys/mman.h>

#include "clock.h"
#include "code.h"
#include "life.h"

#define SN_MAGIC UINT64_C(0x00676e69725f6e73) /* "sn_ring" in little-endian order: another byte order does not match */
#define SN_VERSION 3u
#define SN_SPARES 2u
#define SN_SLOTS 64u   /* at most */
#define SN_INPUTS 64u  /* at most */
#define SN_READERS 64u /* at once */
#define SN_LEASES 4u   /* a reader */
#define SN_LANES 4u    /* writers of an input at once */
#define SN_NAME 24u    /* bytes of a writer's name, with the zero at its end */
#define SN_SILENCE 100u /* ticks, unless the producer says otherwise */
#define SN_LINE 64u

/* The first six and the sizes of the inputs are chosen; the rest follows from them. */
typedef struct {
    uint64_t slots, slot_size, inputs, layout_size, inputs_size, device_size;
    uint64_t input_size[SN_INPUTS];
    uint64_t mailbox_at[SN_INPUTS];
    uint64_t layout_at, inputs_at, device_at, slots_at, slot_stride, size;
} sn_geometry;

typedef struct {
    uint64_t life; /* 0: free */
    uint32_t lease[SN_LEASES]; /* which lease of this reader << 8 | slot + 1; 0: free */
    uint64_t step, taken, skipped, lost; /* last step; ticks taken; commits never seen; slots gone before the lease */
    uint64_t revoked; /* leases that were over before they were given back */
} __attribute__((aligned(64))) sn_entry;

typedef struct {
    uint64_t magic; /* this and the next two lines are the same in every version, so that any can tell whose it is */
    uint32_t version, control_size;
    uint64_t generation, owner, pid_namespace, owner_uid;
    unsigned char digest[32]; /* SHA-256 of the layout text */
    sn_geometry geometry;
    int64_t heartbeat_ns __attribute__((aligned(64)));
    uint64_t dropped, copies; /* ticks that found every slot leased; fields that had to be copied into their slot */
    int64_t lease_limit_ns; /* after so long a slot that is wanted is taken from its reader; 0: never */
    uint64_t latest __attribute__((aligned(64))); /* number of the commit << 8 | slot; SN_NONE: nothing yet */
    uint32_t bell, closed;
    uint32_t waiter __attribute__((aligned(64)));
    uint32_t command_bell __attribute__((aligned(64)));
    uint32_t command_waiter; /* 1: the producer sleeps on it */
    sn_entry readers[SN_READERS];
    uint64_t mappers[SN_READERS]; /* lives of those that map the fields on a GPU; 0: free */
} sn_control;

typedef struct {
    uint64_t sequence, step, hash;
    int64_t stamp_ns, sent_ns; /* simulated time; CLOCK_MONOTONIC at the commit, or where a GPU commits, at its launch */
} __attribute__((aligned(64))) sn_slot;

/* What one writer sends. Two buffers follow it: number n of its commands lies in buffer n & 1. */
typedef struct {
    uint64_t count, writer; /* commands sent; life and reader of who may send, 0: nobody */
    uint64_t answers[2];
    int64_t sent_ns[2];
    uint64_t sender[2]; /* the writer that sent it, and its priority then */
    char name[SN_NAME]; /* the writer's */
    int32_t rank[2];
    int32_t priority; /* the writer's, now */
} __attribute__((aligned(64))) sn_lane;

/* An input: its rules, and what the producer did with commands. SN_LANES lanes follow it. */
typedef struct {
    uint64_t owner; /* life and reader of the writer that has the input for itself, 0: nobody */
    uint32_t exclusive, silence; /* 1: for one writer at a time; ticks without a command after which a writer is silent */
    /* The producer's, from here on. Of each lane: the command last taken, its tick, its sender and its rank. */
    uint64_t taken[SN_LANES] __attribute__((aligned(64)));
    uint64_t heard[SN_LANES];
    uint64_t speaker[SN_LANES];
    int32_t rank[SN_LANES];
    uint64_t applied[SN_LANES]; /* commands applied */
    uint64_t step, answers; /* of the command last applied: the tick that applied it, the one that it answers */
    int64_t sent_ns, age_ns; /* when it was sent, CLOCK_MONOTONIC; and how old it was when it was applied */
    uint64_t charge; /* the writer in charge; 0: none yet */
} __attribute__((aligned(64))) sn_mailbox;

/* A lease that the producer met, and when first: it looks at no clock of its readers'. */
typedef struct {
    uint64_t life;
    int64_t since_ns;
    uint32_t word;
} sn_met;

/* A process's own view of a segment. Geometry is a checked copy: what others write later cannot lead outside. */
typedef struct {
    sn_control *control;
    sn_geometry geometry;
    uint64_t commits, step; /* of the producer: commits made, step of the last */
    int64_t beat_ns;
    uint32_t last, writing, checked; /* producer's: slot last committed, slot being written + 1, reader last looked at */
    sn_met met[SN_READERS][SN_LEASES]; /* of the producer, where leases have a limit */
} sn_ring;

static inline void sn_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield" ::: "memory");
#endif
}

/* Bytes of a lane with its two buffers. */
static inline uint64_t sn_lane_size(uint64_t input_size)
{
    return sizeof(sn_lane) + 2 * ((input_size + SN_LINE - 1) / SN_LINE * SN_LINE);
}

/* Place everything; returns NULL or what is wrong with the choice. */
static inline const char *sn_geometry_place(sn_geometry *g)
{
    const uint64_t limit = UINT64_C(1) << 48;
    uint64_t at = sizeof(sn_control);
    if (g->slots < 2 || g->slots > SN_SLOTS) return "the number of slots is not in 2 … 64";
    if (g->inputs > SN_INPUTS) return "there are more than 64 inputs";
    if (g->slot_size > limit || g->slot_size % 8) return "the size of a slot is not a multiple of 8 below 2^48";
    if (g->layout_size > limit || g->inputs_size > limit || g->device_size > limit) return "the text of a layout is longer than 2^48 bytes";
    for (uint64_t i = 0; i < SN_INPUTS; i++) {
        if (i >= g->inputs) g->input_size[i] = 0;
        if (g->input_size[i] > limit) return "an input is larger than 2^48 bytes";
        g->mailbox_at[i] = i < g->inputs ? at : 0;
        if (i < g->inputs) at += sizeof(sn_mailbox) + SN_LANES * sn_lane_size(g->input_size[i]);
    }
    g->layout_at = at;
    g->inputs_at = g->layout_at + g->layout_size;
    g->device_at = g->inputs_at + g->inputs_size;
    g->slots_at = (g->device_at + g->device_size + 4095) / 4096 * 4096;
    g->slot_stride = sizeof(sn_slot) + (g->slot_size + SN_LINE - 1) / SN_LINE * SN_LINE;
    g->size = g->slots_at + (g->slots + SN_SPARES) * g->slot_stride;
    return NULL;
}

static inline sn_slot *sn_slot_at(const sn_ring *r, uint32_t slot)
{
    return (sn_slot *)((char *)r->control + r->geometry.slots_at + slot * r->geometry.slot_stride);
}

static inline void *sn_ring_slot(const sn_ring *r, int slot) { return sn_slot_at(r, (uint32_t)slot) + 1; }

static inline sn_mailbox *sn_mailbox_at(const sn_ring *r, uint32_t input)
{
    return (sn_mailbox *)((char *)r->control + r->geometry.mailbox_at[input]);
}

static inline sn_lane *sn_lane_at(const sn_ring *r, uint32_t input, uint32_t lane)
{
    return (sn_lane *)((char *)(sn_mailbox_at(r, input) + 1) + lane * sn_lane_size(r->geometry.input_size[input]));
}

/* The buffer of the command with this number. */
static inline void *sn_lane_half(const sn_ring *r, uint32_t input, uint32_t lane, uint64_t number)
{
    uint64_t stride = (r->geometry.input_size[input] + SN_LINE - 1) / SN_LINE * SN_LINE;
    return (char *)(sn_lane_at(r, input, lane) + 1) + (number & 1) * stride;
}

/* Make a new ring in zeroed memory of g->size bytes, aligned to 64; g has been placed. */
static inline void sn_ring_format(sn_ring *r, void *memory, const sn_geometry *g, uint64_t generation,
                                  const void *digest, const void *layout, const void *inputs, const void *device)
{
    sn_control *c = (sn_control *)memory;
    memset(r, 0, sizeof *r);
    r->control = c;
    r->geometry = *g;
    c->magic = SN_MAGIC;
    c->version = SN_VERSION;
    c->control_size = sizeof *c;
    c->generation = generation;
    c->owner = sn_life_self();
    c->pid_namespace = sn_pid_namespace();
    c->owner_uid = (uint64_t)geteuid();
    c->geometry = *g;
    c->latest = SN_NONE;
    c->heartbeat_ns = r->beat_ns = sn_now_ns();
    r->last = UINT32_MAX;
    memcpy(c->digest, digest, sizeof c->digest);
    memcpy((char *)memory + g->layout_at, layout, g->layout_size);
    memcpy((char *)memory + g->inputs_at, inputs, g->inputs_size);
    memcpy((char *)memory + g->device_at, device, g->device_size);
    for (uint32_t i = 0; i < g->inputs; i++) sn_mailbox_at(r, i)->silence = SN_SILENCE;
}

/* Take up the ring in memory of the given size; returns NULL or why it is none. Reads nothing that it has not checked. */
static inline const char *sn_ring_attach(sn_ring *r, void *memory, uint64_t size)
{
    sn_control *c = (sn_control *)memory;
    memset(r, 0, sizeof *r);
    if (size < sizeof *c) return "it is shorter than a control block";
    if (c->magic != SN_MAGIC) return "it does not start with the magic word of a ring";
    if (c->version != SN_VERSION || c->control_size != sizeof *c) return "it is of another version of the protocol";
    sn_geometry placed = c->geometry;
    r->geometry = placed;
    const char *wrong = sn_geometry_place(&placed);
    if (wrong != NULL) return wrong;
    if (memcmp(&placed, &r->geometry, sizeof placed) != 0) return "its parts do not lie where their sizes put them";
    if (placed.size != size) return "its length is not what its parts need";
    if (c->pid_namespace != sn_pid_namespace()) return "its owner lives in another pid namespace (container)";
    r->control = c;
    return NULL;
}

/* Unmap what sn_ring_open mapped. */
static inline void sn_ring_unmap(sn_ring *r)
{
    munmap(r->control, (size_t)r->geometry.size);
    r->control = NULL;
}

/* Copy out of memory that another process may be writing; the caller finds out whether it did. Its races are meant,
 * so the thread sanitizer does not look into it. */
__attribute__((no_sanitize_thread)) static inline void sn_copy_shared(void *to, const void *from, uint64_t size)
{
    const uint64_t *words = (const uint64_t *)from;
    for (uint64_t i = 0; i < size / 8; i++) {
        uint64_t word = __atomic_load_n(&words[i], __ATOMIC_RELAXED);
        memcpy((char *)to + 8 * i, &word, 8);
    }
    for (uint64_t i = size & ~UINT64_C(7); i < size; i++)
        ((unsigned char *)to)[i] = __atomic_load_n((const unsigned char *)from + i, __ATOMIC_RELAXED);
}

#endif
