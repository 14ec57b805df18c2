/* The inputs of a tick: commands of this process and through the mailboxes, and what lockstep finds missing. */
#include "stepper_parts.h"

#include <string.h>

/* Phases of a command of this process. */
enum { SN_EMPTY, SN_FULL, SN_BUSY };

void sn_stepper_latch_commands(sn_stepper *s)
{
    for (uint32_t i = 0; i < s->options.input_count; i++) {
        sn_command *command = &s->commands[i];
        uint32_t full = SN_FULL;
        if (atomic_load_explicit(&command->phase, memory_order_relaxed) != SN_FULL) continue;
        if (!atomic_compare_exchange_strong(&command->phase, &full, SN_BUSY)) continue;
        memcpy(s->held + s->inputs[i].offset, command->bytes, s->inputs[i].size);
        atomic_store_explicit(&command->phase, SN_EMPTY, memory_order_release);
    }
}

void sn_stepper_command(sn_stepper *s, uint32_t input, const uint8_t *bytes)
{
    sn_command *command = &s->commands[input];
    while (atomic_exchange(&command->phase, SN_BUSY) == SN_BUSY) sn_pause(); /* the tick copies a few bytes */
    memcpy(command->bytes, bytes, s->inputs[input].size);
    atomic_store_explicit(&command->phase, SN_FULL, memory_order_release);
}

/* An input that had to answer before this tick did not. */
static void sn_put_miss(sn_stepper *s, uint32_t input, uint64_t step)
{
    s->unanswered |= UINT64_C(1) << input;
    sn_count(&s->received[input].unanswered, 1);
    atomic_store_explicit(&s->received[input].unanswered_step, step, memory_order_relaxed);
}

uint64_t sn_stepper_unanswered(const sn_stepper *s, uint64_t inputs)
{
    uint64_t found = 0;
    for (uint32_t i = 0; i < s->options.input_count; i++)
        if ((inputs >> i & 1) && !sn_mailbox_answered(s->options.ring, i)) found |= UINT64_C(1) << i;
    return found;
}

void sn_stepper_give_up(sn_stepper *s, uint64_t inputs)
{
    s->unanswered = 0;
    for (uint32_t i = 0; i < s->options.input_count; i++)
        if (inputs >> i & 1) sn_put_miss(s, i, atomic_load(&s->step) + 1);
    sn_account_count(&s->account, SN_UNANSWERED, 1);
}

/* Commands of this process first, so that those through the mailboxes win. */
void sn_latch_inputs(sn_stepper *s, sn_due due, uint64_t step, int64_t now_ns)
{
    s->unanswered = 0;
    sn_stepper_latch_commands(s);
    for (uint32_t i = 0; i < s->options.input_count; i++) {
        const bool awaited = due.awaited >> i & 1;
        const int code = sn_mailbox_take(s->options.ring, i, s->taken, awaited ? step - 1 : SN_NONE, now_ns);
        if (code == SN_LATE) sn_count(&s->received[i].late, 1);
        if (awaited && code != SN_NEW) {
            sn_put_miss(s, i, step);
            if (due.zero) memset(s->held + s->inputs[i].offset, 0, s->inputs[i].size);
        }
        if (code != SN_NEW) continue;
        memcpy(s->held + s->inputs[i].offset, s->taken, s->inputs[i].size);
        const sn_mailbox *const mailbox = sn_mailbox_at(s->options.ring, i);
        const uint64_t answers = mailbox->answers;
        sn_account_put(&s->received[i].age, mailbox->age_ns);
        if (answers < step) sn_account_put(&s->received[i].delay, (int64_t)(step - answers));
    }
}

void sn_forget_inputs(sn_stepper *s)
{
    sn_stepper_latch_commands(s);
    for (uint32_t i = 0; i < s->options.input_count; i++) sn_mailbox_forget(s->options.ring, i);
}
