/* What functions return as a number: a negative one means the same in all of them, and each function's comment names
 * those that it gives. Functions that return text give NULL, or in words what is wrong; questions, 0 or 1. */
#ifndef SIM_NODE_RING_CODE_H
#define SIM_NODE_RING_CODE_H

enum {
    SN_NEW = 1,          /* there is something newer than what was taken last */
    SN_NOTHING = 0,      /* there is not; of a wait: and its time is over */
    SN_OK = 0,           /* it is done */
    SN_CLOSED = -1,      /* the producer closed the ring: no more ticks will come */
    SN_INTERRUPTED = -2, /* a signal came while waiting */
    SN_NO_LEASE = -3,    /* all leases of this reader are in use: release a tick */
    SN_NO_ROOM = -4,     /* the reader table is full of living readers */
    SN_NO_LIFE = -5,     /* /proc does not tell who this process is */
    SN_OUTRUN = -6,      /* the other side was faster each time: try again at the next tick */
    SN_NO_LANE = -7,     /* the input has as many living writers as there can be */
    SN_EXCLUSIVE = -8,   /* the input is for one writer, and has another */
    SN_LATE = -9         /* the command does not answer the tick that it had to, and is dropped */
};

/* A code in words. */
static inline const char *sn_code_text(int code)
{
    switch (code) {
    case SN_NEW: return "there is something new";
    case SN_NOTHING: return "nothing new, nothing wrong";
    case SN_CLOSED: return "the producer closed the ring";
    case SN_INTERRUPTED: return "a signal came while waiting";
    case SN_NO_LEASE: return "all leases of this reader are in use";
    case SN_NO_ROOM: return "there is no room for another reader";
    case SN_NO_LIFE: return "/proc does not tell the start time of this process";
    case SN_OUTRUN: return "the other side was faster each time";
    case SN_NO_LANE: return "the input has as many writers as there can be";
    case SN_EXCLUSIVE: return "the input is for one writer, and has another";
    case SN_LATE: return "the command answers another tick";
    default: return "this is no code of the ring";
    }
}

#endif
