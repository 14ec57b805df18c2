/* The ring: a plant's outputs in shared memory, read in place by any number of processes, and commands back.
 *
 * This header is the protocol and its only implementation; docs/ring.md has it in tables, step by step. It is C11 and
 * C++17, needs Linux and nothing else (define _GNU_SOURCE before any include where the compiler does not). A segment, all
 * of it sized when it is made (sn_geometry_place says where each part lies):
 *
 *     control block · reader table · mailboxes · layout text · inputs text · device text · slots · two spare slots
 *
 * Producer, one thread: sn_ring_next → fill sn_ring_slot → sn_ring_commit. It never waits. A slot carries a sequence
 * word: twice the number of the commit that filled it, odd while it is being written. `latest` holds number and slot
 * of the newest commit in one word. When every slot is leased, next gives a spare one, whose commit is counted as
 * dropped and never published; there are two, so that what was committed last always outlives the next write.
 *
 * Reader, under a lease: sn_reader_take writes the slot into its own lease, then checks that the slot's sequence is
 * still the one that `latest` promised; the producer makes the sequence odd, then looks at the leases, and makes it
 * even again if it finds one (hazard pointers: Michael, 2004, "Hazard Pointers: Safe Memory Reclamation for Lock-Free
 * Objects"). All four steps are in one total order, so at least one side sees the other: a leased slot never changes.
 * Where the producer sets a limit, a lease that it has met for longer is taken away, which sn_reader_intact tells.
 * Without a lease, sn_ring_copy detects tearing by the sequence (Boehm, 2012, "Can seqlocks get along with programming
 * language memory models?").
 *
 * A controller: sn_ring_open the node's name; sn_ring_field and sn_ring_input find what lies where, by name; then
 * sn_reader_open and sn_mailbox_claim; then, for each tick, sn_reader_wait → sn_reader_take → read tick.payload and fill
 * sn_mailbox_buffer → sn_mailbox_send → sn_reader_release. examples/controller.c is one; examples/controller.cpp
 * also opens the ring again when its node is restarted. Of several that send to an input the one of the highest priority
 * is in charge; one may also have it for itself.
 *
 * Compatibility: SN_VERSION names offsets, sizes, meanings, limits and the order of the steps, and is raised when one of
 * them changes. The first 48 bytes and the form of a life are the same in every version, so that any can tell whose a
 * segment is and whether that process lives. A segment of another version is refused and left as it is. Within a version
 * only what docs/ring.md names may change, so a client built with any header of it works with any node of it. Version 2
 * has lanes in mailboxes, where 1 had one writer an input, and counts `copies` in the control block; 3 has a bell for
 * commands, which the lockstep clock sleeps on, and a limit of leases.
 *
 * A process is named by its life: pid and start time in one word, so that a reused pid is not mistaken for it. What a
 * dead process held (lease, mailbox) is taken over by compare-and-exchange on that word.
 *
 * Fields that a GPU keeps lie in as many slots of its memory, which the device text names (docs/ring.md) and a lease
 * guards as it does the ring's own: ring/mapper.h tells the producer who maps them.
 */
#ifndef SIM_NODE_RING_H
#define SIM_NODE_RING_H

#include "ring/code.h"
#include "ring/field.h"
#include "ring/life.h"
#include "ring/lookup.h"
#include "ring/mailbox.h"
#include "ring/mapper.h"
#include "ring/producer.h"
#include "ring/reader.h"
#include "ring/segment.h"

#endif
