/* Fields and inputs by name, looked up once in the layouts' texts.
 *
 * Those are canonical JSON: a field is {"dtype":"f32","name":"body","offset":0,"shape":[4],"unit":"m"}. Quotes within a
 * text are escaped there, so the pattern looked for cannot stand inside one. */
#ifndef SIM_NODE_RING_FIELD_H
#define SIM_NODE_RING_FIELD_H

#include "segment.h"

/* Find {"dtype":"…","name":"…","offset": in a text; returns what follows it, or NULL. */
static inline const char *sn_text_find(const char *text, uint64_t size, const char *dtype, const char *name)
{
    char pattern[512];
    int length = dtype == NULL ? snprintf(pattern, sizeof pattern, ",\"name\":\"%s\",\"offset\":", name)
                               : snprintf(pattern, sizeof pattern, "{\"dtype\":\"%s\",\"name\":\"%s\",\"offset\":", dtype, name);
    if (length < 0 || (size_t)length >= sizeof pattern) return NULL;
    const char *found = (const char *)memmem(text, (size_t)size, pattern, (size_t)length);
    return found != NULL ? found + length : NULL;
}

/* Where a field of the slots lies: its elements begin `*offset` bytes into tick.payload. `dtype` is its name in the
 * kernel language (f32, f64, i32, i64, u32, u64, bool, vec2 … vec4d) and `bytes` what the reader will read: at most the
 * field's elements times their size. Returns NULL or what is wrong. */
static inline const char *sn_ring_field(const sn_ring *r, const char *name, const char *dtype, uint64_t bytes,
                                        uint64_t *offset)
{
    const char *text = (const char *)r->control + r->geometry.layout_at, *end = text + r->geometry.layout_size;
    const char *at = sn_text_find(text, r->geometry.layout_size, dtype, name);
    if (at == NULL)
        return sn_text_find(text, r->geometry.layout_size, NULL, name) != NULL ? "the field is of another dtype"
                                                                               : "there is no published field of that name";
    *offset = 0;
    for (; at < end && *at >= '0' && *at <= '9' && *offset <= r->geometry.slot_size; at++)
        *offset = *offset * 10 + (uint64_t)(*at - '0');
    if (*offset > r->geometry.slot_size || bytes > r->geometry.slot_size - *offset) return "it does not fit the slot";
    return NULL;
}

/* The number of an input, as the mailbox functions take it. `bytes` is the size of a whole command. Returns NULL or what
 * is wrong. */
static inline const char *sn_ring_input(const sn_ring *r, const char *name, const char *dtype, uint64_t bytes,
                                        uint32_t *input)
{
    const char *text = (const char *)r->control + r->geometry.inputs_at;
    const char *at = sn_text_find(text, r->geometry.inputs_size, dtype, name);
    if (at == NULL)
        return sn_text_find(text, r->geometry.inputs_size, NULL, name) != NULL ? "the input is of another dtype"
                                                                               : "there is no input of that name";
    uint32_t number = 0;
    for (const char *before = text; (before = (const char *)memmem(before, (size_t)(at - before), "{\"dtype\":\"", 10)) != NULL;
         before += 10)
        number++;
    *input = number - 1;
    if (*input >= r->geometry.inputs || bytes != r->geometry.input_size[*input]) return "a command of it has another size";
    return NULL;
}

#endif
